import { ChunkInput } from '../contract/messages.ts'
import { runChunks } from '../job/run-chunks.ts'
import { task } from '../job/task.ts'
import { recordRows } from '../store/job/ledger.ts'
import { deleteRange } from '../store/share-ratio.ts'

/**
 * Deletes the ranges of one Map item, a transaction each. A second run finds them marked and deletes nothing.
 * More or fewer rows than planned are recorded and not refused: whatever is there is old and has to go.
 */
export const handler = task('DeleteChunk', ChunkInput, (input, context) =>
  runChunks(context, input, 'delete', {
    write: async (guarded, chunk) => {
      const rows = await deleteRange(guarded, chunk)
      if (rows !== chunk.row_count) await recordRows(guarded, chunk.number, rows)
      return rows
    },
  }),
)
