import { createHash } from 'node:crypto'
import type { Manifest } from '../../functions/contract/manifest.ts'
import { openJob } from '../../functions/job/open-job.ts'
import { readJob } from '../../functions/store/job/row.ts'
import { writeStaged } from '../../functions/store/s3/write-staged.ts'
import { useBucket } from './bucket.ts'
import { guarded, opening, type TestContext, testContext } from './test-context.ts'
import { linesOf, newSlice, useTestDatabase } from './test-database.ts'

const BUCKET = 'unused'

/** Jobs with a staged source that is there, in a database of their own. */
export const useStagedJobs = (name: string) => {
  const db = useTestDatabase(name)
  const { s3 } = useBucket(BUCKET)

  const run = (): TestContext => ({ ...testContext(db.connect()), s3: s3() })
  const setState = (id: number, state: string) =>
    db.outside.change('update job set state = ? where id = ?', [state, id])
  const stateOf = async (id: number) => (await readJob(db.outside, id))?.state

  /** A staged source of `chunks` chunks, two tracks of four parties each, written to its address. */
  const staged = async (letter: string, chunks: number) => {
    const body = (number: number): Buffer => linesOf(2 * number, 2)
    const manifest: Manifest = {
      version: 1,
      digest: letter.repeat(64),
      rows: 8 * chunks,
      shareSum: `${200 * chunks}.000000`,
      tracks: 2 * chunks,
      parties: 4,
      chunks: Array.from({ length: chunks }, (_, number) => ({
        number,
        rows: 8,
        bytes: body(number).length,
        digest: createHash('sha256').update(body(number)).digest('hex'),
        firstIsrc: `KRA00${String(2 * number).padStart(7, '0')}`,
        lastIsrc: `KRA00${String(2 * number + 1).padStart(7, '0')}`,
      })),
    }
    await writeStaged(s3(), BUCKET, manifest, body)
    const { digest, rows, shareSum } = manifest
    return { manifest, body, message: { digest, rows, shareSum, chunks } }
  }

  /** A job of that staged source in DELETED. */
  const deleted = async (letter: string, chunks: number) => {
    const source = await staged(letter, chunks)
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null, { staged: source.message }))
    await setState(job.id, 'DELETED')
    return { ...source, slice, job, input: guarded(slice, job) }
  }

  return { db, run, setState, stateOf, staged, deleted }
}
