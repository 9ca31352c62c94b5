import type { Mode } from '../../model/replay/replay.ts'
import { replaceInPlace } from '../../support/replace-mode.ts'
import type { ShareFile } from '../../support/share-file.ts'
import { shareFile } from '../../support/share-file.ts'
import type { TestSlice } from '../../support/test-stack.ts'
import type { FaultLab } from './fault-lab.ts'
import type { Moment } from './moments.ts'

/**
 * How a slice is when a trial's run begins.
 *
 * - first: rows of an older system, which nobody is shown; replaced in place
 * - standby: a set is shown, and the other slot has rows that the run deletes; for an undo, the set that is wanted
 * - in-place: a set is shown, and the run replaces it where it lies
 */
export type Beginning = 'first' | 'standby' | 'in-place'
export const BEGINNINGS: readonly Beginning[] = ['first', 'standby', 'in-place']

/** What was there before a trial's run. */
export type Before = {
  readonly mode: Mode
  /** The rows that the slice held: those that readers saw, where they saw any. */
  readonly old: ShareFile
  readonly isShown: boolean
  /** The slice's newest job; 0: none. */
  readonly job: number
}

const OLD = shareFile(150, 5)
const CHUNK_ROWS = 25
/** A file that lies in the other slot whole when an undo begins. */
const LARGE_CHUNK_ROWS = 15_000

/** Registers a file as any run does, and answers its job. */
const register = async ({ on }: FaultLab, slice: TestSlice, file: ShareFile, chunkRows: number): Promise<number> => {
  const end = await on.run({ ...slice, source: await on.stage(file, chunkRows) })
  if (end.status !== 'SUCCEEDED') throw new Error(`The set before could not be registered: ${end.error} ${end.cause}`)
  const [job] = await on.rows<{ id: number }>(
    `select j.id from job j join distributor d on d.id = j.distributor_id
     where d.code = ? and j.settlement_month = ? order by j.fence desc limit 1`,
    [slice.distributor, `${slice.month}-01`],
  )
  return job?.id ?? 0
}

/** @param wanted lies in the other slot already, whole, where the run is an undo */
export const begin = async (
  lab: FaultLab,
  slice: TestSlice,
  beginning: Beginning,
  moment: Moment,
  wanted: ShareFile,
): Promise<Before> => {
  const { on } = lab
  const isLarge = moment.inChunk && moment.task === 'DeleteChunk'
  const seed = (slot: 0 | 1) => (isLarge ? lab.seedLarge(slice, slot) : on.seed(slice, OLD, slot))
  if (beginning === 'standby') {
    if (moment.needs === 'undo') await register(lab, slice, wanted, CHUNK_ROWS)
    else await seed(1)
    return { mode: 'standby', old: OLD, isShown: true, job: await register(lab, slice, OLD, CHUNK_ROWS) }
  }
  await replaceInPlace(on, slice)
  const old = isLarge ? lab.largeFile : OLD
  if (beginning === 'first') {
    await seed(0)
    return { mode: 'in-place', old, isShown: false, job: 0 }
  }
  return {
    mode: 'in-place',
    old,
    isShown: true,
    job: await register(lab, slice, old, isLarge ? LARGE_CHUNK_ROWS : CHUNK_ROWS),
  }
}
