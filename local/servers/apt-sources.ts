import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where this machine gets Debian packages from, and the key they are signed with. */
export type AptSource = { readonly uri: string; readonly signedBy: string | undefined }

const KEYRINGS = ['/usr/share/keyrings/debian-archive-keyring.gpg', '/usr/share/keyrings/debian-archive-keyring.pgp']

/** The archive itself ends in /debian; security, backports and ports are elsewhere and lack the development suite. */
const isDebianArchive = (uri: string): boolean => /^(https?|file|mirror\+https?):.*\/debian\/?$/.test(uri)

/** deb822: stanzas of `Field: value`, continued by indentation, `#` comments. */
const parseDeb822 = (text: string): AptSource[] =>
  text.split(/\n\s*\n/).flatMap((stanza) => {
    const lines = stanza.split('\n').filter((line) => !line.startsWith('#'))
    const fields = new Map<string, string>()
    let field = ''
    for (const line of lines) {
      const match = /^([A-Za-z-]+):\s*(.*)$/.exec(line)
      if (match?.[1] !== undefined) field = match[1].toLowerCase()
      const value = match?.[2] ?? line.trim()
      if (field !== '') fields.set(field, [fields.get(field), value].filter(Boolean).join(' '))
    }
    const isBinary = (fields.get('types') ?? '').split(/\s+/).includes('deb')
    if (!isBinary || fields.get('enabled')?.toLowerCase() === 'no') return []
    // A key may be in the file itself; then the distribution's own keyring is used.
    const key = fields.get('signed-by')
    return (fields.get('uris') ?? '')
      .split(/\s+/)
      .filter(isDebianArchive)
      .map((uri) => ({ uri, signedBy: key?.startsWith('/') ? key : undefined }))
  })

/** One line each: `deb [signed-by=… arch=…] uri suite component…`. */
const parseOneLine = (text: string): AptSource[] =>
  text.split('\n').flatMap((line) => {
    const match = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+\S+/.exec(line)
    const uri = match?.[2]
    if (uri === undefined || !isDebianArchive(uri)) return []
    return [{ uri, signedBy: /signed-by=(\S+)/i.exec(match?.[1] ?? '')?.[1] }]
  })

const parseAptSources = (fileName: string, text: string): AptSource[] =>
  fileName.endsWith('.sources') ? parseDeb822(text) : parseOneLine(text)

/** The first Debian archive among the machine's apt sources; undefined where it has none. */
export const readAptSources = async (root = '/etc/apt'): Promise<AptSource | undefined> => {
  const parts = join(root, 'sources.list.d')
  const names = existsSync(parts) ? (await readdir(parts)).sort() : []
  const files = [join(root, 'sources.list'), ...names.map((name) => join(parts, name))]
  for (const file of files) {
    if (!/\.(list|sources)$/.test(file)) continue
    const source = parseAptSources(file, await readFile(file, 'utf8').catch(() => ''))[0]
    if (source !== undefined)
      return { uri: source.uri, signedBy: source.signedBy ?? KEYRINGS.find((path) => existsSync(path)) }
  }
  return undefined
}
