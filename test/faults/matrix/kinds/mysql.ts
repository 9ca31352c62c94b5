import type { MysqlServer } from '../../../../local/servers/mysql.ts'
import { pause, WRITERS } from '../../../support/faults.ts'
import { atMost, type Fault, onDatabase, statementOf, type Trial } from '../fault.ts'
import type { Moment } from '../moments.ts'

/* What may happen to MySQL and on the way to it. */

const READ_ONLY_MS = 300

/** Longer than any run takes: a server's own timeout, hours, helps nobody. */
const STRANDED_MS = 75_000

const server = ({ on }: Trial): MysqlServer => {
  const { server } = on.stack.database
  if (server === undefined) throw new Error('The faults need a MySQL of their own')
  return server
}

const killed: Fault = {
  id: 'mysql-killed',
  title: 'MySQL killed and restarted on its data',
  suits: () => true,
  strike: async (trial) => await server(trial).kill(),
  beside: async (trial) => {
    await server(trial).restart()
    await trial.lab.reconnect()
  },
}

const connectionsKilled: Fault = {
  id: 'mysql-connections-killed',
  title: 'All connections to MySQL killed by the server',
  suits: () => true,
  strike: async ({ on }) => {
    const { user } = on.stack.database.app
    const sessions = await on.rows<{ id: number }>('select id from information_schema.processlist where user = ?', [
      user,
    ])
    // One that has ended by itself meanwhile is as good.
    for (const { id } of sessions) await on.outside.query('kill ?', [id]).catch(() => undefined)
  },
}

const readOnly: Fault = {
  id: 'mysql-read-only',
  title: `MySQL read only for ${READ_ONLY_MS} ms`,
  suits: () => true,
  strike: async ({ on }) => void (await on.outside.query('set global read_only = on')),
  beside: async ({ on }) => {
    await pause(READ_ONLY_MS)
    await on.outside.query('set global read_only = off')
  },
}

const commits = ({ task, inChunk }: Moment): boolean =>
  !inChunk && ([...WRITERS, 'ReuseSet', 'HaltJob'] as readonly string[]).includes(task)

const cutAtCommit = (when: 'before' | 'after'): Fault => ({
  id: `mysql-cut-${when}-commit`,
  title: when === 'before' ? 'TCP cut before COMMIT arrives' : 'TCP cut after COMMIT, before its reply',
  suits: commits,
  place: ({ place }) => ({ ...place, sql: /^commit$/, when }),
  strike: (_, at) => at.cut(),
})

const halfOpen: Fault = {
  id: 'mysql-half-open',
  title: 'TCP half-open: the client is gone, the server keeps its session and locks to the end of the run',
  suits: onDatabase,
  strike: (_, at) => statementOf(at).strand(),
  beside: async ({ on, arn }) => {
    await atMost(STRANDED_MS, on.ended(arn))
    on.relay.endStranded()
  },
}

/** Each costs a statement's whole timeout, 20 s. */
const MUTED = ['open-job', 'delete-chunk-after-guard', 'register-chunk-after-write', 'mark-registered', 'reuse-set']

const muted: Fault = {
  id: 'mysql-silent',
  title: 'TCP half-open: the connection is silent in both directions',
  suits: ({ id }) => MUTED.includes(id),
  strike: (_, at) => statementOf(at).mute(),
  heal: async ({ on }) => on.relay.cutAll(),
}

/** A statement that is answered with an error can't be one that has been done already. */
const hasStatement = (moment: Moment): boolean =>
  onDatabase(moment) && !(moment.inChunk && /after-(guard|commit)$/.test(moment.id))

const answered = (id: string, title: string, errno: number, sqlState: string, message: string): Fault => ({
  id,
  title,
  suits: hasStatement,
  place: ({ place }) => ({ ...place, when: 'before' }),
  // Error 1213 ends the transaction, 1205 its statement only.
  strike: (_, at) => statementOf(at).refuse({ errno, sqlState, message, rollback: errno === 1213 }),
})

const deadlock = answered(
  'mysql-deadlock',
  'Deadlock (1213) as the answer to the statement',
  1213,
  '40001',
  'Deadlock found when trying to get lock; try restarting transaction',
)

const lockTimeout = answered(
  'mysql-lock-timeout',
  'Lock timeout (1205) as the answer to the statement',
  1205,
  'HY000',
  'Lock wait timeout exceeded; try restarting transaction',
)

export const MYSQL_FAULTS: readonly Fault[] = [
  killed,
  connectionsKilled,
  readOnly,
  cutAtCommit('before'),
  cutAtCommit('after'),
  halfOpen,
  muted,
  deadlock,
  lockTimeout,
]
