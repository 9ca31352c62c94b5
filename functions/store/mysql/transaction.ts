import { FENCE_PATIENCE_S, TRANSACTION_TRIES_MAX } from '../../contract/limits.ts'
import type { Database } from './database.ts'
import type { Verdict } from './error-rules.ts'
import { DatabaseFailure, databaseFailure } from './failure.ts'

const DUPLICATE_KEY = 1062

/** True where a unique key refused a row: for who runs next to us or before us, it is an answer and no fault. */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof DatabaseFailure && error.errno === DUPLICATE_KEY

/**
 * Runs `work` in one transaction and commits it. After a deadlock, a lock timeout or a lost connection the whole of it
 * runs again, guard first: error 1205 undoes only its statement, so ROLLBACK always comes first. A lost reply to COMMIT
 * is rerun too, so `work` must answer a repetition itself (a ledger mark, a state already reached).
 *
 * @throws DatabaseFailure once the tries are used up, or at once; Failure OutOfTime; whatever `work` throws, rolled
 * back
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
      const failure = databaseFailure(error)
      if (verdictOf(failure) === 'reconnect') database.discard()
      await database.rollback()
      await pauseOrThrow(database, failure, attempt)
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
      const failure = databaseFailure(error)
      if (verdictOf(failure) === 'reconnect') database.discard()
      await pauseOrThrow(database, failure, attempt)
    }
  }
}

const verdictOf = (failure: unknown): Verdict => (failure instanceof DatabaseFailure ? failure.verdict : 'give up')

const pauseOrThrow = async (database: Database, failure: unknown, attempt: number): Promise<void> => {
  if (!(failure instanceof DatabaseFailure) || failure.verdict === 'give up') throw failure
  const pauseMs = Math.random() * 100 * 2 ** attempt
  if (attempt >= TRANSACTION_TRIES_MAX || pauseMs >= database.leftMs) throw failure.after(attempt)
  await new Promise((resume) => setTimeout(resume, pauseMs))
}

/**
 * Runs `work` with the patience of a raise: a chunk in flight ends within a second, so a session that is still in the
 * way after FENCE_PATIENCE_S is frozen or gone, and is killed.
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
