import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import pMap from 'p-map'
import { buildOnce } from '../host/build-once.ts'
import { LOCAL } from '../host/paths.ts'
import { type AptSource, readAptSources } from './apt-sources.ts'
import { programOnPath } from './on-path.ts'

const run = promisify(execFile)

/** Debian's stable releases carry MariaDB only; its development suite carries MySQL. */
const SUITE = 'sid'
const PACKAGES = ['mysql-server-core', 'mysql-client-core', 'valkey-server']

const OUTPUT_BYTES_MAX = 16 * 1_024 * 1_024
const DOWNLOAD_TIMEOUT_MS = 300_000

/** The names of loader and library folder per architecture. */
const PLATFORMS: Partial<Record<NodeJS.Architecture, { triplet: string; loader: string }>> = {
  x64: { triplet: 'x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2' },
  arm64: { triplet: 'aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1' },
}

export type DebianPrefix = {
  readonly prefix: string
  /** The packages bring their own C library, newer than the machine's: programs are run through its loader. */
  readonly loader: string
  readonly libraries: string
}

/** Why packages cannot be unpacked on this machine, or undefined where they can. */
export const debianObstacle = async (): Promise<string | undefined> => {
  if (process.platform !== 'linux') return 'it is not Linux'
  if (PLATFORMS[process.arch] === undefined) return `no packages are known for ${process.arch}`
  for (const tool of ['apt-get', 'dpkg'])
    if (programOnPath(tool) === undefined) return `there is no ${tool} (it is not Debian-like)`
  if ((await readAptSources()) === undefined) return 'none of its apt sources is a Debian archive'
  return undefined
}

const aptOptions = (root: string): string[] => {
  const options = {
    'Dir::Etc::SourceList': join(root, 'sources.list'),
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::Etc::Preferences': '/dev/null',
    'Dir::Etc::PreferencesParts': '/dev/null',
    'Dir::State': join(root, 'state'),
    // Empty: nothing counts as installed, so the whole closure is downloaded, the C library included.
    'Dir::State::status': join(root, 'status'),
    'Dir::Cache': join(root, 'cache'),
    'APT::Install-Recommends': 'false',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '3',
    // As root apt would drop to a user that may not write here.
    ...(process.getuid?.() === 0 ? { 'APT::Sandbox::User': 'root' } : {}),
  }
  return Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
}

const apt = async (root: string, what: string, ...args: string[]): Promise<void> => {
  try {
    await run('apt-get', [...aptOptions(root), ...args], {
      cwd: root,
      maxBuffer: OUTPUT_BYTES_MAX,
      timeout: DOWNLOAD_TIMEOUT_MS,
      env: { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
    })
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    const reason = stderr.split('\n').find((line) => line.startsWith('E:')) ?? String(error)
    throw new Error(`${what} cannot be downloaded: apt-get ${args[0]} failed (${reason.trim()}). Is there a network?`, {
      cause: error,
    })
  }
}

/** A private apt: its own list of packages, sources and archives, under `root`. */
const updateApt = async (root: string, source: AptSource, suite: string, what: string): Promise<void> => {
  const signedBy = source.signedBy === undefined ? '' : `[signed-by=${source.signedBy}] `
  await mkdir(join(root, 'state/lists/partial'), { recursive: true })
  await mkdir(join(root, 'cache/archives/partial'), { recursive: true })
  await writeFile(join(root, 'status'), '')
  await writeFile(join(root, 'sources.list'), `deb ${signedBy}${source.uri} ${suite} main\n`)
  await apt(root, what, 'update')
}

const download = async (root: string, source: AptSource): Promise<string[]> => {
  await updateApt(root, source, SUITE, 'MySQL and Valkey')
  await apt(root, 'MySQL and Valkey', 'install', '-y', '--download-only', ...PACKAGES)
  const archives = join(root, 'cache/archives')
  return (await readdir(archives)).filter((name) => name.endsWith('.deb')).map((name) => join(archives, name))
}

/** Unpacks the archives side by side: they are many, small, and dpkg is bound by decompression. */
const unpack = async (archives: string[], prefix: string): Promise<void> => {
  await pMap(archives, (archive) => run('dpkg', ['-x', archive, prefix], { maxBuffer: OUTPUT_BYTES_MAX }), {
    concurrency: availableParallelism(),
  })
}

const locate = (root: string): DebianPrefix => {
  const platform = PLATFORMS[process.arch]
  if (platform === undefined) throw new Error(`No packages are known for ${process.arch}`)
  const prefix = join(root, 'prefix')
  const libraries = join(prefix, 'usr/lib', platform.triplet)
  const loader = [join(prefix, 'usr/lib64'), libraries, join(prefix, 'usr/lib')]
    .map((folder) => join(folder, platform.loader))
    .find((path) => existsSync(path))
  if (loader === undefined) throw new Error(`The unpacked packages in ${prefix} carry no ${platform.loader}`)
  return { prefix, loader, libraries }
}

/**
 * MySQL and Valkey from the machine's own Debian archive, unpacked under .local/debian: no root, nothing installed.
 * About 75 MB to download and 440 MB on disk, once.
 */
export const debianPrefix = async (say: (line: string) => void): Promise<DebianPrefix> => {
  const root = await buildOnce(join(LOCAL, 'debian', `${SUITE}-${process.arch}`), async (temporary) => {
    const source = await readAptSources()
    if (source === undefined) throw new Error('None of the apt sources is a Debian archive')
    say('Downloading MySQL and Valkey from the Debian archive (75 MB, once) ...')
    const archives = await download(temporary, source)
    say(`Unpacking ${archives.length} packages into .local/debian ...`)
    await unpack(archives, join(temporary, 'prefix'))
    for (const leftover of ['state', 'cache']) await rm(join(temporary, leftover), { recursive: true, force: true })
  })
  return locate(root)
}

/**
 * Unpacks packages into `root`/prefix, without what they depend on: for programs that find the rest beside them or on the
 * machine.
 */
export const unpackPackages = async (root: string, suite: string, names: readonly string[]): Promise<void> => {
  const source = await readAptSources()
  if (source === undefined) throw new Error('None of the apt sources is a Debian archive')
  const what = names.join(', ')
  await updateApt(root, source, suite, what)
  await apt(root, what, 'download', ...names)
  const archives = (await readdir(root)).filter((file) => file.endsWith('.deb')).map((file) => join(root, file))
  await unpack(archives, join(root, 'prefix'))
  for (const leftover of ['state', 'cache', ...archives.map((path) => basename(path))])
    await rm(join(root, leftover), { recursive: true, force: true })
}

/** The id of the operating system, for messages. */
export const systemName = async (): Promise<string> => {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '')
  return /^PRETTY_NAME="?([^"\n]+)/m.exec(release)?.[1] ?? process.platform
}
