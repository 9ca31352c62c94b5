import type { LentDatabase } from '../mysql/database.ts'
import { RAISING, transaction } from '../mysql/transaction.ts'
import { Tx } from '../mysql/tx.ts'

/** A transaction that holds one job's row exclusively. */
class Held extends Tx {
  readonly jobId: number

  constructor(tx: Tx, jobId: number) {
    super(tx)
    this.jobId = jobId
  }
}

export type HeldJob = Held

/**
 * Runs `work` in a transaction that holds the job row exclusively. Chunks in flight hold it shared, so none is then, and
 * every later one sees what `work` did.
 *
 * @throws what `transaction` throws
 */
export const exclusively = async <T>(
  database: LentDatabase,
  jobId: number,
  work: (held: HeldJob) => Promise<T>,
): Promise<T> =>
  await transaction(
    database,
    async (tx) => {
      await tx.rows('select id from job where id = ? for update', [jobId])
      return await work(new Held(tx, jobId))
    },
    RAISING,
  )
