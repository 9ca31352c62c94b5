import type { ChunkInput, JobMessage } from '../../functions/contract/messages.ts'
import type { Slice } from '../../functions/contract/words.ts'
import { runChunks } from '../../functions/job/run-chunks.ts'
import type { TaskContext } from '../../functions/job/task.ts'
import { recordRows } from '../../functions/store/job/ledger.ts'
import { deleteRange, loadChunk } from '../../functions/store/share-ratio.ts'
import { guarded as inputOf } from './test-context.ts'

/** Chunk numbers of a whole phase. */
export const EVERYTHING = { from: 0, to: 1_000_000 }

/** What the DeleteChunk handler does, without a Lambda around it. */
export const deleteAll = (by: TaskContext, slice: Slice, job: JobMessage, item = EVERYTHING) =>
  runChunks(by, { ...inputOf(slice, job), item }, 'delete', {
    write: async (guarded, chunk) => {
      const rows = await deleteRange(guarded, chunk)
      if (rows !== chunk.row_count) await recordRows(guarded, chunk.number, rows)
      return rows
    },
  })

/** What the RegisterChunk handler does, with its objects in memory. */
export const registerAll = (by: TaskContext, input: ChunkInput, bodies: Buffer[], onWrite = async () => {}) =>
  runChunks(by, input, 'register', {
    prepare: async (chunk) => bodies[chunk.number] ?? Buffer.alloc(0),
    write: async (guarded, _, body) => {
      const { rows } = await loadChunk(guarded, body)
      await onWrite()
      return rows
    },
  })
