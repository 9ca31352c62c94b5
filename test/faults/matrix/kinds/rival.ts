import { type Connection, createConnection } from 'mysql2/promise'
import { pause } from '../../../support/faults.ts'
import type { TestStack } from '../../../support/test-stack.ts'
import { type Fault, hitCall, type Trial } from '../fault.ts'

/* Deadlocks and lock timeouts that MySQL itself finds, because a second transaction is in the way. */

/** InnoDB ends the lighter of two transactions: this makes the rival the heavier one. */
const BALLAST_ROWS = 150

/** Longer than a raise waits for the job row (2 s), and than a chunk waits for it (10 s). */
const RAISE_MS = 2_600
const CHUNK_MS = 10_600

const openRival = async ({ stack }: TestStack): Promise<Connection> => {
  const { host, port, name, master } = stack.database
  const rival = await createConnection({ host, port, database: name, ...master })
  rival.on('error', () => undefined)
  await rival.query('set session transaction_isolation = "READ-COMMITTED"')
  await rival.beginTransaction()
  return rival
}

const end = async (rival: Connection): Promise<void> => {
  await rival.rollback()
  rival.destroy()
}

const jobOf = (event: unknown): number => (event as { job?: { id: number } }).job?.id ?? 0

const deadlock: Fault = {
  id: 'mysql-deadlock-real',
  title: 'Deadlock that a second transaction makes',
  suits: ({ id }) => id.endsWith('chunk-after-guard'),
  // The chunk holds the job row shared. The rival takes the ledger, then asks for the job row: the chunk's next
  // statement closes the circle.
  strike: async (trial, at) => {
    const job = jobOf(hitCall(trial, at).event)
    const rival = await openRival(trial.on)
    await rival.query('insert into audit_write (kind) select "ballast" from share_ratio limit ?', [BALLAST_ROWS])
    await rival.query('select 1 from job_chunk where job_id = ? for update', [job])
    const closing = rival.query('select 1 from job where id = ? for update', [job])
    trial.lateCalls.push(
      closing.then(
        () => end(rival),
        (error: Error) => {
          trial.violations.push(`the deadlock was not the chunk's: ${error.message}`)
          rival.destroy()
        },
      ),
    )
  },
}

const RAISING = ['plan-delete', 'mark-deleted', 'begin-registering', 'mark-registered', 'reuse-set', 'halt-job']

const hold = async (trial: Trial, job: number, ms: number): Promise<void> => {
  const rival = await openRival(trial.on)
  await rival.query('select 1 from job where id = ? for update', [job])
  trial.lateCalls.push(pause(ms).then(() => end(rival)))
}

const lockTimeout: Fault = {
  id: 'mysql-lock-timeout-real',
  title: 'Lock timeout while a second transaction holds the job row',
  suits: ({ id }) => RAISING.includes(id) || id.endsWith('chunk-before-guard'),
  place: ({ place, inChunk }) => (inChunk ? place : { ...place, sql: /for update$/, when: 'before', skip: 0 }),
  strike: async (trial, at) =>
    await hold(trial, jobOf(hitCall(trial, at).event), trial.moment.inChunk ? CHUNK_MS : RAISE_MS),
}

export const RIVAL_FAULTS: readonly Fault[] = [deadlock, lockTimeout]
