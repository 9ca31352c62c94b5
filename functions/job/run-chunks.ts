import { setTimeout as sleep } from 'node:timers/promises'
import { MetricUnit } from '@aws-lambda-powertools/metrics'
import { Failure } from '../contract/failures.ts'
import { CHUNK_RESERVE_MS } from '../contract/limits.ts'
import type { ChunkInput } from '../contract/messages.ts'
import { type Phase, STATE_OF_PHASE } from '../contract/words.ts'
import { acquisitionOf, type GuardedTx, guardShared } from '../store/job/guard.ts'
import { type LedgerChunk, markChunk, unmarkedChunks } from '../store/job/ledger.ts'
import { statement, transaction } from '../store/mysql/transaction.ts'
import type { TaskContext } from './task.ts'
import { verifyLock } from './verify-lock.ts'

/** How a phase treats a chunk. `prepare`, if any, runs ahead of the transaction, while the chunk before is written. */
type ChunkWork<Of extends Phase, Prepared> = Preparing<Prepared> & {
  /** Changes the rows inside the transaction. @returns rows changed */
  readonly write: (
    guarded: GuardedTx<(typeof STATE_OF_PHASE)[Of]>,
    chunk: LedgerChunk,
    prepared: Prepared,
  ) => Promise<number>
}

type Preparing<Prepared> = { readonly prepare?: (chunk: LedgerChunk) => Promise<Prepared> }

/**
 * The next chunk is prepared once this one's statements are on their way: done at once, the work would delay each of
 * their round trips, and the server would wait for us instead of we for the server.
 */
const PREPARE_DELAY_MS = 25

/**
 * Works off the unmarked chunks of one Map item, one transaction each:
 *
 *   verify lock --> begin --> guard (job row, shared) --> mark ledger --> write rows --> commit
 *
 * A second run of the same item finds the marks and changes nothing; a run whose fence is old fails at the guard, and
 * the fence can't be raised between guard and commit. The clock is asked between chunks, never within one.
 *
 * @throws Failure OutOfTime with chunks left (the engine calls again at once); LockLost, StaleFence, and what `write` throws
 */
export const runChunks = async <Of extends Phase, Prepared>(
  context: TaskContext,
  input: ChunkInput,
  phase: Of,
  work: ChunkWork<Of, Prepared>,
): Promise<{ chunks: number; rows: number }> => {
  const { database, metrics } = context
  const { id } = input.job
  const chunks = await statement(database, (reader) =>
    unmarkedChunks(reader, id, phase, input.item.from, input.item.to),
  )
  let rows = 0
  let ahead = prepareAhead(work, chunks[0])
  for (const [index, chunk] of chunks.entries()) {
    requireTime(context, input, index, chunks.length)
    const prepared = await ahead
    // Waiting for S3 may have taken what a transaction needs.
    requireTime(context, input, index, chunks.length)
    ahead = prepareAhead(work, chunks[index + 1], PREPARE_DELAY_MS)
    await verifyLock(context, input)
    const startedAt = performance.now()
    rows += await transaction(database, async (tx) => {
      const guarded = await guardShared(tx, acquisitionOf(input), STATE_OF_PHASE[phase])
      if ((await markChunk(guarded, chunk.number)) === 'marked before') return 0
      // `prepared` belongs to this chunk: it was asked for with `chunk` one turn earlier.
      return await work.write(guarded, chunk, prepared as Prepared)
    })
    metrics.addMetric('chunk.duration', MetricUnit.Milliseconds, performance.now() - startedAt)
  }
  metrics.addMetric('chunk.rows', MetricUnit.Count, rows)
  return { chunks: chunks.length, rows }
}

/** @throws Failure OutOfTime, where a chunk that began now might not end */
const requireTime = (context: TaskContext, { job }: ChunkInput, done: number, all: number): void => {
  if (context.remainingMs() >= CHUNK_RESERVE_MS) return
  throw new Failure('OutOfTime', `Stopped after ${done} of ${all} chunks; the rest follows at once`, job)
}

const prepareAhead = <Prepared>({ prepare }: Preparing<Prepared>, chunk: LedgerChunk | undefined, delayMs = 0) => {
  if (prepare === undefined || chunk === undefined) return Promise.resolve(undefined)
  const prepared = sleep(delayMs).then(() => prepare(chunk))
  // If the chunk before fails, nobody awaits this one: its own failure must not end the process.
  prepared.catch(() => undefined)
  return prepared
}
