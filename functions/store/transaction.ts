import { Failure, isFailure, messageOf } from '../contract/errors.ts'
import { FENCE_PATIENCE_S, TRANSACTION_TRIES_MAX } from '../contract/limits.ts'
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
 * Runs `work` with the patience of a raise: a chunk in flight ends within a second, so who still stands in the way after
 * FENCE_PATIENCE_S is frozen or gone, and is killed.
 */
export const raising = async <T>(database: Database, work: () => Promise<T>): Promise<T> => {
  const { patienceS } = database
  database.patienceS = FENCE_PATIENCE_S
  try {
    return await work()
  } finally {
    database.patienceS = patienceS
  }
}

/** Runs `work` in a transaction that holds the job row exclusively. Chunks in flight hold it shared. */
export const exclusively = async <T>(database: Database, jobId: number, work: () => Promise<T>): Promise<T> =>
  await raising(database, () =>
    transaction(database, async () => {
      await database.rows('select id from job where id = ? for update', [jobId])
      return await work()
    }),
  )
