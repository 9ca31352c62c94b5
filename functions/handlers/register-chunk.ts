import { Failure } from '../contract/failures.ts'
import { ChunkInput } from '../contract/messages.ts'
import { count, counted } from '../contract/numbers.ts'
import { runChunks } from '../job/run-chunks.ts'
import { task } from '../job/task.ts'
import { readJob } from '../store/job/row.ts'
import { statement } from '../store/mysql/transaction.ts'
import { readChunk } from '../store/s3/staged.ts'
import { loadChunk } from '../store/share-ratio.ts'

/**
 * Registers the staged objects of one Map item, a transaction each; the next object is fetched while one is loaded.
 * A second run finds them marked and loads nothing. Fewer rows than the object holds, or a single warning, rolls back:
 * LOAD DATA LOCAL skips duplicates and cuts overlong values without an error.
 */
export const handler = task('RegisterChunk', ChunkInput, async (input, context) => {
  const { database, s3, env } = context
  const job = await statement(database, (reader) => readJob(reader, input.job.id))
  const source = job?.source_digest ?? ''
  return await runChunks(context, input, 'register', {
    prepare: async ({ number, object_digest }) =>
      await readChunk(s3, env.BUCKET, source, { number, digest: object_digest ?? '' }),
    write: async (guarded, chunk, body) => {
      const { rows, warnings } = await loadChunk(guarded, body)
      if (rows === chunk.row_count && warnings === 0) return rows
      throw new Failure(
        'ChunkMismatch',
        `Chunk ${chunk.number} holds ${counted(chunk.row_count, 'row')}, MySQL took ${count(rows)} with ${counted(warnings, 'warning')}; the chunk was rolled back. Another program wrote to this slice.`,
        {
          ...{ job: input.job.id, fence: input.job.fence, state: 'REGISTERING' },
          data: { chunk: chunk.number, rowsPlanned: chunk.row_count, rowsTaken: rows },
        },
      )
    },
  })
})
