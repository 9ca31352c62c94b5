import { Failure, isFailure, messageOf } from '../contract/errors.ts'
import { FENCE_KILLS_MAX, FENCE_WAIT_S, LOCK_WAIT_TIMEOUT_S, TRANSACTION_TRIES_MAX } from '../contract/limits.ts'
import type { Database } from './database.ts'

/** What mysql2 adds to an error. After an idle close `code` is undefined and only `fatal` tells. */
type DatabaseError = Error & { errno?: number; code?: string; fatal?: boolean }

const DEADLOCK = 1213
const LOCK_WAIT_TIMEOUT = 1205
const DUPLICATE_KEY = 1062
/** 1290, 1836: read only, as a demoted primary answers. 1040, 1203: too many connections. 1053, 1317, 1927: killed. */
const RERUN_ON_NEW_CONNECTION = new Set([1290, 1836, 1040, 1203, 1053, 1317, 1927, 4031])
/** 1044, 1045, 1049, 1142, 1146, 1148, 3948: privileges, schema or local_infile; a retry changes nothing. */
const MISCONFIGURED = new Set([1044, 1045, 1049, 1142, 1146, 1148, 3948])

export const isDuplicateKey = (error: unknown): boolean => (error as DatabaseError).errno === DUPLICATE_KEY

const CONNECTION_CODES = ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOTFOUND', 'PROTOCOL_SEQUENCE_TIMEOUT']

const isConnectionLoss = (error: DatabaseError): boolean =>
  error.fatal === true || CONNECTION_CODES.includes(error.code ?? '')

type Verdict = 'rerun' | 'reconnect' | 'give up'

const verdictOf = (error: DatabaseError): Verdict => {
  if (error.errno === DEADLOCK || error.errno === LOCK_WAIT_TIMEOUT) return 'rerun'
  if (RERUN_ON_NEW_CONNECTION.has(error.errno ?? 0)) return 'reconnect'
  return isConnectionLoss(error) && !MISCONFIGURED.has(error.errno ?? 0) ? 'reconnect' : 'give up'
}

/**
 * Runs `work` in one transaction and commits it. After a deadlock, a lock timeout or a lost connection the whole of it
 * runs again, guard first: error 1205 undoes only its statement, so ROLLBACK always comes first. A lost reply to COMMIT
 * is rerun too, so `work` must answer a repetition itself (a ledger mark, a state already reached).
 *
 * @throws Failure DatabaseUnreachable once the tries or the time are used up; whatever `work` throws, rolled back
 */
export const transaction = async <T>(
  database: Database,
  work: () => Promise<T>,
  begin: () => Promise<void> = () => database.begin(),
): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await begin()
      const result = await work()
      await database.commit()
      return result
    } catch (error) {
      const verdict = isFailure(error) ? 'give up' : verdictOf(error as DatabaseError)
      if (verdict === 'reconnect') database.discard()
      await database.rollback()
      await pauseOrThrow(database, error, verdict, attempt)
    }
  }
}

/** Runs `work` in a transaction that can change nothing and sees one moment throughout. */
export const reading = async <T>(database: Database, work: () => Promise<T>): Promise<T> =>
  await transaction(database, work, () => database.beginReading())

/** Runs one read or one repeatable statement, with the same reruns as a transaction. */
export const statement = async <T>(database: Database, work: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      const verdict = isFailure(error) ? 'give up' : verdictOf(error as DatabaseError)
      if (verdict === 'reconnect') database.discard()
      await pauseOrThrow(database, error, verdict, attempt)
    }
  }
}

const pauseOrThrow = async (database: Database, error: unknown, verdict: Verdict, attempt: number): Promise<void> => {
  if (verdict === 'give up') throw named(error)
  const pauseMs = Math.random() * 100 * 2 ** attempt
  if (attempt >= TRANSACTION_TRIES_MAX || Date.now() + pauseMs >= database.deadlineAt) throw unreachable(error)
  await new Promise((resume) => setTimeout(resume, pauseMs))
}

/** Gives misconfiguration its own name and sentence; everything else passes as it is. */
const named = (error: unknown): unknown =>
  MISCONFIGURED.has((error as DatabaseError).errno ?? 0)
    ? new Failure(
        'DatabaseMisconfigured',
        `MySQL refuses what Sharelock needs: ${messageOf(error)}. Run the migrations, and check the user's privileges and local_infile=1.`,
        { cause: error },
      )
    : error

const unreachable = (error: unknown): Failure =>
  new Failure(
    'DatabaseUnreachable',
    `MySQL did not complete the work after ${TRANSACTION_TRIES_MAX} tries: ${messageOf(error) || 'connection lost'}. Nothing was half done; the task will be retried.`,
    { cause: error },
  )

/**
 * Runs `work` in a transaction that holds the job row exclusively. Chunks in flight hold it shared and end within a
 * second; a frozen or vanished worker does not, so after FENCE_WAIT_S the connections that block us are killed (same
 * database user, found by the lock they hold on exactly this row) and we try again. Their chunks roll back.
 */
export const exclusively = async <T>(database: Database, jobId: number, work: () => Promise<T>): Promise<T> => {
  for (let kills = 0; ; kills += 1) {
    try {
      return await transaction(database, async () => {
        await database.change(`set session innodb_lock_wait_timeout = ${FENCE_WAIT_S}`)
        const taken = await database.rows('select id from job where id = ? for update', [jobId]).catch(blocked)
        await database.change(`set session innodb_lock_wait_timeout = ${LOCK_WAIT_TIMEOUT_S}`)
        if (taken === 'blocked') throw new RowBlocked('the job row stays locked')
        return await work()
      })
    } catch (error) {
      if (!(error instanceof RowBlocked)) throw error
      if (kills >= FENCE_KILLS_MAX) throw unreachable(error)
      await killHolders(database, { table: 'job', key: String(jobId) })
    }
  }
}

class RowBlocked extends Error {
  override readonly name = 'RowBlocked'
}

const blocked = (error: DatabaseError): 'blocked' => {
  if (error.errno === LOCK_WAIT_TIMEOUT) return 'blocked'
  throw error
}

/** A row by its table and primary key, as performance_schema writes it, e.g. `7` or `7, 2, 15`. */
type Row = { readonly table: 'job' | 'job_chunk'; readonly key: string }

/**
 * Ends the connections of our own user that hold a lock on the row; their transactions roll back. Only for locks that
 * nobody may hold for long: a frozen or vanished worker would keep them until the server's wait_timeout.
 *
 * An inserted row is locked implicitly until somebody waits for it, and the lock made then names the waiter's thread.
 * Its transaction is the right one, and that one's lock on the table names its own thread.
 */
const killHolders = async (database: Database, { table, key }: Row): Promise<void> => {
  const rows = await statement(database, () =>
    database.rows<{ id: number }>(
      `select distinct t.processlist_id as id
       from performance_schema.data_locks l
       join performance_schema.data_locks own
         on own.engine_transaction_id = l.engine_transaction_id and own.lock_type = 'TABLE'
       join performance_schema.threads t on t.thread_id = own.thread_id
       where l.object_schema = database() and l.object_name = ? and l.index_name = 'PRIMARY'
         and l.lock_data = ? and l.lock_status = 'GRANTED' and t.processlist_user = ?
         and t.processlist_id <> connection_id()`,
      [table, key, database.user],
    ),
  )
  await statement(database, () => database.kill(rows.map((row) => row.id)))
}

/**
 * Runs a statement that waits for one ledger row. A second run of a chunk waits here for the first; a first run that
 * still has not ended after LOCK_WAIT_TIMEOUT_S is frozen or gone, and is killed before the chunk is rerun.
 */
export const unblocked = async <T>(database: Database, key: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if ((error as DatabaseError).errno === LOCK_WAIT_TIMEOUT) await killHolders(database, { table: 'job_chunk', key })
    throw error
  }
}
