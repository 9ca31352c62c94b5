import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildOnce } from '../../local/host/build-once.ts'
import { LOCAL } from '../../local/host/paths.ts'
import { debianObstacle, systemName, unpackPackages } from '../../local/servers/debian.ts'
import { programOnPath } from '../../local/servers/on-path.ts'

export type Tools = { readonly spin: string; readonly compiler: string }

/** Spin writes its checker as a C program. */
const COMPILERS = ['gcc', 'cc', 'clang']

/** The suite this machine runs, so that the package fits the libraries it has. */
const ownSuite = async (): Promise<string> => {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '')
  return /^VERSION_CODENAME="?([\w-]+)/m.exec(release)?.[1] ?? 'stable'
}

const spinOfDebian = async (say: (line: string) => void): Promise<string> => {
  const suite = await ownSuite()
  const root = await buildOnce(join(LOCAL, 'debian', `spin-${suite}-${process.arch}`), async (temporary) => {
    say('Downloading Spin from the Debian archive (0.5 MB, once) ...')
    await unpackPackages(temporary, suite, ['spin'])
  })
  return join(root, 'prefix/usr/bin/spin')
}

/**
 * Spin from PATH, or Debian's package unpacked under .local/debian; and a C compiler from PATH.
 *
 * @throws Error naming what is missing and how to install it
 */
export const findTools = async (say: (line: string) => void): Promise<Tools> => {
  const compiler = COMPILERS.map(programOnPath).find((path) => path !== undefined)
  if (compiler === undefined)
    throw new Error(
      `No C compiler is on PATH (${COMPILERS.join(', ')}): Spin's checkers are C programs. Install one, on Debian with \`apt-get install gcc libc6-dev\`.`,
    )
  const spin = programOnPath('spin')
  if (spin !== undefined) return { spin, compiler }
  const obstacle = await debianObstacle()
  if (obstacle === undefined) return { spin: await spinOfDebian(say), compiler }
  throw new Error(
    `Spin is not on PATH, and its package cannot be unpacked on ${await systemName()}, as ${obstacle}. Install Spin 6.5, for example with \`brew install spin\` or \`apt-get install spin\`.`,
  )
}
