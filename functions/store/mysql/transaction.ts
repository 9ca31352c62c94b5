import { BLOCKED_TRIES_MAX, FENCE_PATIENCE_S, TRANSACTION_TRIES_MAX } from '../../contract/limits.ts'
import { type Database, type LentDatabase, RAW } from './database.ts'
import type { Verdict } from './error-rules.ts'
import { DatabaseFailure, databaseFailure } from './failure.ts'
import type { Changer, Reader, Tx } from './tx.ts'

const DUPLICATE_KEY = 1062

/** True where a unique key refused a row: for who runs next to us or before us, it is an answer and no fault. */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof DatabaseFailure && error.errno === DUPLICATE_KEY

/** How a transaction waits. */
export type Patience = {
  /** How long each of its statements waits for another session of our user before that one is killed. */
  readonly patienceS?: number
}

/**
 * Of what raises a fence: a chunk in flight ends within a second, so who is still in the way after FENCE_PATIENCE_S is
 * frozen or gone, and is killed.
 */
export const RAISING: Patience = { patienceS: FENCE_PATIENCE_S }

/**
 * Runs `work` in one transaction and commits it. After a deadlock, a lock timeout or a lost connection the whole of it
 * runs again, guard first, in a new transaction: error 1205 undoes only its statement, so ROLLBACK always comes first. A
 * lost reply to COMMIT is rerun too, so `work` must answer a repetition itself (a ledger mark, a state already reached).
 *
 * @throws DatabaseFailure once the tries are used up, or at once; Failure OutOfTime; whatever `work` throws, rolled
 * back
 */
export const transaction = async <T>(
  database: LentDatabase,
  work: (tx: Tx) => Promise<T>,
  { patienceS }: Patience = {},
): Promise<T> => await inTransaction(database[RAW], () => database[RAW].begin(patienceS), work)

/** Runs `work` in a transaction that can change nothing and sees one moment throughout. */
export const reading = async <T>(database: LentDatabase, work: (reader: Reader) => Promise<T>): Promise<T> =>
  await inTransaction(database[RAW], () => database[RAW].beginReading(), work)

const inTransaction = async <T>(
  database: Database,
  begin: () => Promise<Tx>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await work(await begin())
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

/** Reads outside a transaction, with the same reruns. Two reads of it may see two moments. */
export const statement = async <T>(database: LentDatabase, work: (reader: Reader) => Promise<T>): Promise<T> =>
  await repeated(database[RAW], work)

/** Runs one statement that changes something outside a transaction, with the same reruns: it must bear a repetition. */
export const repeatable = async <T>(database: LentDatabase, work: (one: Changer) => Promise<T>): Promise<T> =>
  await repeated(database[RAW], work)

const repeated = async <T>(database: Database, work: (database: Database) => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(database)
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
  const triesMax = failure.name === 'DatabaseBlocked' ? BLOCKED_TRIES_MAX : TRANSACTION_TRIES_MAX
  if (attempt >= triesMax || pauseMs >= database.leftMs) throw failure.after(attempt)
  await new Promise((resume) => setTimeout(resume, pauseMs))
}
