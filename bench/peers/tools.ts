import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildOnce } from '../../local/host/build-once.ts'
import { LOCAL } from '../../local/host/paths.ts'
import { type DebianPrefix, debianObstacle, debianPrefix, unpackPackages } from '../../local/servers/debian.ts'

/**
 * Percona Toolkit, mydumper and MySQL's own client programs, from the suite and the folder that MySQL itself comes from:
 * they share its C library, OpenSSL and Perl. What is missing there is unpacked beside it, package by package.
 */
const SUITE = 'sid'
const PACKAGES = [
  'percona-toolkit',
  'libdbi-perl',
  'libdbd-mysql-perl',
  'libmariadb3',
  'mydumper',
  'libglib2.0-0t64',
] as const

const TRIPLETS: Partial<Record<NodeJS.Architecture, string>> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }

/** A program under way. `ended` never rejects. */
export type Started = {
  readonly child: ChildProcess
  readonly ended: Promise<{ readonly code: number | null; readonly said: string }>
}

/** Starts a program; its last words are kept for the message of a failure. */
export const start = (command: string, args: readonly string[], env: Record<string, string> = {}): Started => {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  const hear = (data: Buffer) => {
    said = (said + data.toString()).slice(-2_000)
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const ended = new Promise<{ code: number | null; said: string }>((resolve) => {
    child.once('error', (error) => resolve({ code: null, said: String(error) }))
    child.once('close', (code) => resolve({ code, said }))
  })
  return { child, ended }
}

export type Tools = {
  /** Starts `pt-archiver`, `mysqlimport`, `mydumper` or `myloader`. */
  readonly start: (program: Program, args: readonly string[]) => Started
  readonly version: (program: Program) => Promise<string>
}
type Program = 'pt-archiver' | 'mysqlimport' | 'mydumper' | 'myloader'

const toolsIn = ({ prefix, loader, libraries }: DebianPrefix, peers: string, triplet: string): Tools => {
  const own = join(peers, 'prefix/usr')
  const shared = join(prefix, 'usr')
  const paths: Record<Program, readonly string[]> = {
    // A Perl script, run by the Perl that MySQL's packages bring along.
    'pt-archiver': [join(shared, 'bin/perl'), join(own, 'bin/pt-archiver')],
    mysqlimport: [join(shared, 'bin/mysqlimport'), '--no-defaults'],
    mydumper: [join(own, 'bin/mydumper')],
    myloader: [join(own, 'bin/myloader')],
  }
  const perl = [
    join(own, 'lib', triplet, 'perl5'),
    join(shared, 'lib', triplet, 'perl'),
    join(shared, 'share/perl'),
  ] as const
  const env = {
    // The release of Perl that the modules are built for names their folder.
    PERL5LIB: [
      ...perl.map((folder) => join(folder, readdirSync(perl[0])[0] ?? '')),
      join(shared, 'lib', triplet, 'perl-base'),
    ].join(':'),
    // MySQL 9 knows caching_sha2_password only, which is a plugin of the MariaDB client.
    MARIADB_PLUGIN_DIR: join(own, 'lib', triplet, 'libmariadb3/plugin'),
  }
  const library = ['--library-path', `${join(own, 'lib', triplet)}:${libraries}`]
  const started = (program: Program, args: readonly string[]) =>
    start(loader, [...library, ...paths[program], ...args], env)
  const version = async (program: Program): Promise<string> => {
    const { code, said } = await started(program, ['--version']).ended
    const found = /\d+\.\d+\.\d+/.exec(said)?.[0]
    if (code !== 0 || found === undefined) throw new Error(`${program} does not run: ${said.trim().slice(0, 200)}`)
    return found
  }
  return { start: started, version }
}

/** @throws Error saying why the programs cannot be had on this machine */
export const findPeerTools = async (say: (line: string) => void): Promise<Tools> => {
  const triplet = TRIPLETS[process.arch]
  const obstacle = await debianObstacle()
  if (obstacle !== undefined || triplet === undefined) throw new Error(`packages cannot be unpacked, as ${obstacle}`)
  const peers = await buildOnce(join(LOCAL, 'debian', `peers-${SUITE}-${process.arch}`), async (temporary) => {
    say(`Downloading ${PACKAGES.join(', ')} from the Debian archive (24 MB, once) ...`)
    await unpackPackages(temporary, SUITE, PACKAGES)
  })
  return toolsIn(await debianPrefix(say), peers, triplet)
}
