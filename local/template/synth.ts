import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { buildOnce } from '../host/build-once.ts'
import { LOCAL, ROOT } from '../host/paths.ts'

const run = promisify(execFile)

/** Everything the template and the bundles are made of. */
const SOURCES = ['bin', 'infra', 'functions', 'package-lock.json', 'cdk.json', 'tsconfig.json']

const KEEP_MS = 24 * 3_600_000
const OUTPUT_BYTES_MAX = 16 * 1_024 * 1_024

const filesUnder = async (path: string): Promise<string[]> => {
  if (!existsSync(path)) return []
  if (!(await stat(path)).isDirectory()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** A digest over names and contents: the same sources synthesise to the same folder. */
const digestOfSources = async (): Promise<string> => {
  const files = (await Promise.all(SOURCES.map((source) => filesUnder(join(ROOT, source))))).flat().sort()
  const hash = createHash('sha256')
  for (const file of files)
    hash
      .update(relative(ROOT, file))
      .update('\0')
      .update(await readFile(file))
      .update('\0')
  return hash.digest('hex').slice(0, 16)
}

/** What Node has compiled of an app's bundles lives as long as they do. */
export const compileCacheOf = (app: string): string => join(LOCAL, 'compile-cache', basename(app))

/** Removes what older sources synthesised to, unless it is recent enough to be in use. */
const prune = async (folder: string, current: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const age = Date.now() - (await stat(path).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs
    if (name === current || age <= KEEP_MS) continue
    await rm(path, { recursive: true, force: true })
    await rm(compileCacheOf(path), { recursive: true, force: true })
  }
}

/**
 * Synthesises the app for the stage `local` and returns the folder with template and bundles. What it is made of is
 * digested each time, so unchanged sources are not synthesised twice and changed ones always are.
 */
export const synthesise = async (say: (line: string) => void): Promise<string> => {
  const folder = join(LOCAL, 'synth')
  const digest = await digestOfSources()
  const output = await buildOnce(join(folder, digest), async (temporary) => {
    say('Synthesising the app and bundling the handlers ...')
    const environment = { ...process.env, CDK_OUTDIR: temporary, SHARELOCK_STAGE: 'local' }
    await run(process.execPath, [join(ROOT, 'bin/app.ts')], {
      cwd: ROOT,
      env: environment,
      maxBuffer: OUTPUT_BYTES_MAX,
    }).catch((error: { stderr?: string }) => {
      throw new Error(`The app does not synthesise:\n${error.stderr ?? error}`, { cause: error })
    })
  })
  await prune(folder, digest)
  return output
}
