import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildOnce } from '../../local/host/build-once.ts'
import { LOCAL } from '../../local/host/paths.ts'
import { debianObstacle, systemName, unpackPackages } from '../../local/servers/debian.ts'
import { programOnPath } from '../../local/servers/on-path.ts'

export type Tools = { readonly spin: string; readonly compiler: string }

/** What replaying a trace takes: nothing is compiled for it. */
export type ReplayTools = {
  readonly spin: string
  /** The command that Spin reads a model through. */
  readonly preprocessor: string
  /** Where the preprocessor's libraries are, where they are not the machine's. */
  readonly libraries: string | undefined
}

/** Spin writes its checker as a C program. */
const COMPILERS = ['gcc', 'cc', 'clang']

/** The suite this machine runs, so that the package fits the libraries it has. */
const ownSuite = async (): Promise<string> => {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '')
  return /^VERSION_CODENAME="?([\w-]+)/m.exec(release)?.[1] ?? 'stable'
}

const unpacked = async (name: string, packages: readonly string[], say: (line: string) => void): Promise<string> => {
  const suite = await ownSuite()
  const root = await buildOnce(join(LOCAL, 'debian', `${name}-${suite}-${process.arch}`), async (temporary) => {
    say(`Downloading ${name} from the Debian archive (0.5 MB, once) ...`)
    await unpackPackages(temporary, suite, packages)
  })
  return join(root, 'prefix')
}

const missing = async (what: string, how: string): Promise<Error> => {
  const obstacle = await debianObstacle()
  return new Error(
    `${what} is not on PATH, and its package cannot be unpacked on ${await systemName()}, as ${obstacle}. Install it, for example with ${how}.`,
  )
}

const findSpin = async (say: (line: string) => void): Promise<string> => {
  const spin = programOnPath('spin')
  if (spin !== undefined) return spin
  if ((await debianObstacle()) === undefined) return join(await unpacked('spin', ['spin'], say), 'usr/bin/spin')
  throw await missing('Spin 6.5', '`brew install spin` or `apt-get install spin`')
}

const findCompiler = (): string | undefined => COMPILERS.map(programOnPath).find((path) => path !== undefined)

/**
 * Spin from PATH, or Debian's package unpacked under .local/debian; and a C compiler from PATH.
 *
 * @throws Error naming what is missing and how to install it
 */
export const findTools = async (say: (line: string) => void): Promise<Tools> => {
  const compiler = findCompiler()
  if (compiler === undefined)
    throw new Error(
      `No C compiler is on PATH (${COMPILERS.join(', ')}): Spin's checkers are C programs. Install one, on Debian with \`apt-get install gcc libc6-dev\`.`,
    )
  return { spin: await findSpin(say), compiler }
}

/**
 * Spin, and a preprocessor: that of a C compiler on PATH, or else mcpp, which is small and is unpacked as Spin is.
 *
 * @throws Error naming what is missing and how to install it
 */
export const findReplayTools = async (say: (line: string) => void): Promise<ReplayTools> => {
  const spin = await findSpin(say)
  const compiler = findCompiler()
  if (compiler !== undefined) return { spin, preprocessor: `${compiler} -std=gnu99 -E -x c`, libraries: undefined }
  const mcpp = programOnPath('mcpp')
  if (mcpp !== undefined) return { spin, preprocessor: `${mcpp} -P`, libraries: undefined }
  if ((await debianObstacle()) !== undefined) throw await missing('A C preprocessor', 'any C compiler')
  const prefix = await unpacked('mcpp', ['mcpp', 'libmcpp0'], say)
  const [library] = await readdir(join(prefix, 'usr/lib'))
  return { spin, preprocessor: `${join(prefix, 'usr/bin/mcpp')} -P`, libraries: join(prefix, 'usr/lib', library ?? '') }
}
