import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { buildOnce } from '../host/build-once.ts'
import { LOCAL } from '../host/paths.ts'
import { type Program, startProcess } from './process.ts'
import { Server, type ServerKind, startOnFreePort } from './server.ts'

/** The account that runs migrations, as the master user does in AWS. */
export const MASTER = { user: 'sharelock_master', password: 'local-master' } as const

/** innodb options as mysqld takes them, e.g. `256M`. */
export type MysqlOptions = {
  readonly bufferPool?: string
  readonly redoLog?: string
  /** More options for mysqld; the last one wins. */
  readonly extra?: readonly string[]
  /** By default a free one. */
  readonly port?: number
}

/** Where a server keeps its uuid; it makes a new one where the file is not there. */
const OWN_ID = 'auto.cnf'

const KIND: ServerKind = { name: 'MySQL', startTimeoutMs: 60_000, stopGraceMs: 30_000 }

/** What durability, isolation and limits rest on in production; the numbers of RDS's parameter group. */
const productionOptions = (options: MysqlOptions): string[] => [
  '--sync-binlog=1',
  '--innodb-flush-log-at-trx-commit=1',
  '--local-infile=1',
  '--transaction-isolation=READ-COMMITTED',
  // Gone in releases where ROW is the only format left; "loose" lets those start.
  '--loose-binlog-format=ROW',
  '--innodb-lock-wait-timeout=10',
  '--max-connections=200',
  '--wait-timeout=600',
  `--innodb-buffer-pool-size=${options.bufferPool ?? '1G'}`,
  `--innodb-redo-log-capacity=${options.redoLog ?? '1G'}`,
  '--performance-schema=ON',
  ...(options.extra ?? []),
]

const userOption = (): string[] => (process.getuid?.() === 0 ? ['--user=root'] : [])

const START_SQL = `create user '${MASTER.user}'@'%' identified by '${MASTER.password}';
grant all on *.* to '${MASTER.user}'@'%' with grant option;
`

/**
 * An initialised data directory, made once per program and copied for each run: initialising takes 4-5 s, copying 0.1
 * s.
 */
const template = (program: Program): Promise<string> => {
  const recipe = createHash('sha256').update(program.origin).update(START_SQL).digest('hex').slice(0, 12)
  return buildOnce(join(LOCAL, 'mysql', recipe), async (temporary) => {
    const startSql = join(temporary, 'start.sql')
    const log = join(LOCAL, 'mysql', 'initialize.log')
    await writeFile(startSql, START_SQL)
    const directory = join(temporary, 'data')
    const options = ['--no-defaults', '--initialize-insecure', `--datadir=${directory}`, `--init-file=${startSql}`]
    const server = startProcess(program, [...options, '--secure-file-priv=NULL', ...userOption()], log)
    await server.exited
    if (server.child.exitCode !== 0) throw new Error(`mysqld (${program.origin}) cannot initialise; see ${log}`)
    // The server's own id: two servers started from one copy must not share it.
    await rm(join(directory, OWN_ID), { force: true })
  })
}

/** A MySQL server of our own. Its data lives in its folder and survives kill and restart, not removal. */
export class MysqlServer extends Server {
  readonly #options: MysqlOptions

  private constructor(program: Program, folder: string, port: number, options: MysqlOptions) {
    super(KIND, program, folder, port)
    this.#options = options
  }

  /** Starts a server on the data that its folder has, or else a fresh one. */
  static async start(program: Program, folder: string, options: MysqlOptions = {}): Promise<MysqlServer> {
    if (!existsSync(join(folder, 'data'))) {
      const source = await template(program)
      // Renamed when it is whole: a copy that was cut off is not taken for data.
      const copy = join(folder, 'copy')
      await rm(copy, { recursive: true, force: true })
      await mkdir(folder, { recursive: true })
      await cp(join(source, 'data'), copy, { recursive: true })
      await rename(copy, join(folder, 'data'))
    }
    return await startOnFreePort((port) => new MysqlServer(program, folder, port, options), options.port)
  }

  /**
   * Keeps the data as they are now, as a snapshot of the disk does: the server is paused meanwhile, and what it has not
   * committed is rolled back by its recovery.
   */
  async snapshot(): Promise<void> {
    await rm(this.#snapshot, { recursive: true, force: true })
    this.freeze()
    try {
      await cp(this.dataFolder, this.#snapshot, { recursive: true })
    } finally {
      this.thaw()
    }
  }

  /**
   * Puts the server back to its snapshot, which is spent then: what was committed since is lost.
   *
   * @param isNew it is another server afterwards, as RDS restores; else the same, as after a failover that lost commits
   */
  async restore({ isNew }: { readonly isNew: boolean }): Promise<void> {
    await this.kill()
    await rm(this.dataFolder, { recursive: true, force: true })
    await rename(this.#snapshot, this.dataFolder)
    if (isNew) await rm(join(this.dataFolder, OWN_ID), { force: true })
    await this.restart()
  }

  /** Where its files are, the binary log among them. */
  get dataFolder(): string {
    return join(this.folder, 'data')
  }

  get #snapshot(): string {
    return join(this.folder, 'snapshot')
  }

  protected override options(): string[] {
    return [
      '--no-defaults',
      `--datadir=${this.dataFolder}`,
      `--pid-file=${join(this.folder, 'mysqld.pid')}`,
      // A socket's path may not exceed 107 bytes; nobody needs it.
      '--socket=',
      '--mysqlx=OFF',
      '--bind-address=127.0.0.1',
      `--port=${this.port}`,
      '--secure-file-priv=NULL',
      ...userOption(),
      ...productionOptions(this.#options),
    ]
  }

  protected override async ping(): Promise<void> {
    const connection = await createConnection({ host: this.host, port: this.port, ...MASTER })
    await connection.end()
  }
}
