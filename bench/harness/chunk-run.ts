import { randomUUID } from 'node:crypto'
import type { Metrics } from '@aws-lambda-powertools/metrics'

import { planItems } from '../../functions/contract/chunks.ts'
import { type ChunkInput, ExecutionInput, type Guarded, type JobMessage } from '../../functions/contract/messages.ts'
import type { Phase, Slice } from '../../functions/contract/words.ts'
import { markRegistered } from '../../functions/job/mark-registered.ts'
import { openJob } from '../../functions/job/open-job.ts'
import { readHead } from '../../functions/job/read-head.ts'
import { runChunks } from '../../functions/job/run-chunks.ts'
import { Sandbox } from '../../functions/job/services.ts'
import type { TaskContext } from '../../functions/job/task.ts'
import { markDeleted } from '../../functions/job/transitions.ts'
import { acquisitionOf, guardExclusive } from '../../functions/store/job/guard.ts'
import { exclusively } from '../../functions/store/job/held.ts'
import {
  type DeleteRange,
  insertRegisterPlan,
  replaceDeletePlan,
  unmarkedChunks,
} from '../../functions/store/job/ledger.ts'
import { markState } from '../../functions/store/job/mark-state.ts'
import { tryAcquire } from '../../functions/store/lock/acquire.ts'
import { release } from '../../functions/store/lock/release.ts'
import { statement } from '../../functions/store/mysql/transaction.ts'
import { deleteRange, loadChunk } from '../../functions/store/share-ratio.ts'
import type { Stack } from '../../local/stack.ts'

import { LANES } from './floor.ts'
import type { StagedFile } from './staged-file.ts'

/*
 * A job whose chunks are not of the default size: lock, guard, ledger and transitions are the system's own, but the lanes
 * run in this process and the plan comes from the staged file, since the size of a chunk is a constant everywhere else.
 */

/** A run of this process, and the duration of each chunk it did, in milliseconds. */
type Worker = { readonly run: TaskContext; readonly chunkMs: number[]; readonly close: () => void }

const startWorker = (stack: Stack): Worker => {
  const sandbox = new Sandbox('bench', { ...stack.environment })
  const { services } = sandbox.begin()
  const chunkMs: number[] = []
  const addMetric = (name: string, _unit: string, value: number) => {
    if (name === 'chunk.duration') chunkMs.push(value)
  }
  const metrics = { addMetric } as unknown as Metrics
  const run = { ...services, metrics, remainingMs: () => Number.POSITIVE_INFINITY }
  return { run, chunkMs, close: () => sandbox.close() }
}

/** An open job of this process. */
export type ChunkRun = {
  /** Of the first lane; transitions use it too. */
  readonly first: TaskContext
  readonly workers: readonly Worker[]
  readonly guarded: Guarded
  readonly staged: StagedFile
  readonly close: () => Promise<void>
}

/** No execution is behind it, so any life will do. */
export const LIFE = { startedAt: '2026-10-01T00:00:00.000Z', redrives: 0 }

export const openChunkRun = async (stack: Stack, slice: Slice, file: StagedFile, lanes = LANES): Promise<ChunkRun> => {
  const workers = [startWorker(stack), ...Array.from({ length: lanes - 1 }, () => startWorker(stack))] as const
  const run = workers[0].run
  const { digest, rows, shareSum, chunks } = file.manifest
  const staged = { digest, rows, shareSum, chunks: chunks.length }
  const lock = { token: `bench/harness/${randomUUID()}`, held: true }
  const client = await run.lock()
  if ((await tryAcquire(client, slice, lock.token)) !== null) throw new Error(`${slice.distributor} is locked`)
  const { distributor, month } = slice
  const request = ExecutionInput.parse({ distributor, month, source: { staged: digest }, supersede: true, force: true })
  const head = await readHead(run, slice)
  const job: JobMessage = await openJob(run, {
    request,
    execution: 'bench',
    life: LIFE,
    slice,
    staged,
    lock,
    head,
    own: null,
  })
  const close = async () => {
    await release(client, slice, lock.token)
    for (const worker of workers) worker.close()
  }
  return { first: run, workers, guarded: { slice, lock, onOutage: 'halt', job }, staged: file, close }
}

/** The ranges of a staged file's chunks, for a slice that holds exactly its rows. */
const rangesOf = ({ manifest: { chunks } }: StagedFile): DeleteRange[] =>
  chunks.map((chunk, place) => ({
    from_isrc: place === 0 ? '' : chunk.firstIsrc,
    before_isrc: chunks[place + 1]?.firstIsrc ?? null,
    row_count: chunk.rows,
  }))

/** Works off a phase's items in lanes, as the Map does. @returns milliseconds */
const inLanes = async ({ first: { database }, workers, guarded, staged }: ChunkRun, phase: Phase): Promise<number> => {
  const chunks = await statement(database, (reader) => unmarkedChunks(reader, guarded.job.id, phase))
  const items = planItems(chunks.map(({ number }) => number))
  const startedAt = performance.now()
  const doItem = (run: TaskContext, input: ChunkInput) =>
    phase === 'delete'
      ? runChunks(run, input, phase, { write: (tx, chunk) => deleteRange(tx, chunk) })
      : runChunks(run, input, phase, {
          write: async (tx, { number }) => (await loadChunk(tx, staged.bodies[number] ?? Buffer.alloc(0))).rows,
        })
  const lane = async ({ run }: Worker): Promise<void> => {
    for (let item = items.shift(); item !== undefined; item = items.shift()) await doItem(run, { ...guarded, item })
  }
  await Promise.all(workers.map(lane))
  return performance.now() - startedAt
}

/** Deletes the slice, which must hold exactly the rows of `from`. @returns milliseconds, MarkDeleted included */
export const deleteAll = async (run: ChunkRun, from: StagedFile): Promise<number> => {
  const { first } = run
  const { id } = run.guarded.job
  await exclusively(first.database, id, async (held) =>
    replaceDeletePlan(await guardExclusive(held, acquisitionOf(run.guarded), 'DELETING'), rangesOf(from)),
  )
  const startedAt = performance.now()
  await inLanes(run, 'delete')
  await markDeleted(first, run.guarded)
  return performance.now() - startedAt
}

/** Registers the job's own file. @returns milliseconds, MarkRegistered included */
export const registerAll = async (run: ChunkRun): Promise<number> => {
  const { first } = run
  const { id } = run.guarded.job
  await exclusively(first.database, id, async (held) => {
    const guarded = await guardExclusive(held, acquisitionOf(run.guarded), 'DELETED')
    await insertRegisterPlan(guarded, run.staged.manifest.chunks)
    await markState(guarded, 'REGISTERING')
  })
  const startedAt = performance.now()
  await inLanes(run, 'register')
  await markRegistered(first, run.guarded)
  return performance.now() - startedAt
}
