import { Failure } from '../contract/failures.ts'
import { formatUnits, type HeldRows, parseUnits } from '../contract/manifest.ts'
import { counted } from '../contract/numbers.ts'
import { type JobState, type Slice, sliceName } from '../contract/words.ts'
import { heldOf } from '../store/held-set.ts'
import type { Reader } from '../store/mysql/tx.ts'

type Totals = { readonly rows: number; readonly shareSum: string }

/**
 * What is registered and what is held are together the file as it was counted before anything was left out: a row is neither
 * lost between the two nor in both.
 *
 * @returns what is held; undefined where nothing is
 * @throws Failure SliceMismatch
 */
export const requireWholeFile = async (
  reader: Reader,
  slice: Pick<Slice, 'distributor' | 'month'>,
  digest: string,
  registered: Totals,
  details: { readonly job: number; readonly fence: number; readonly state: JobState },
): Promise<HeldRows | undefined> => {
  const held = (await heldOf(reader, [digest])).get(digest)
  if (held === undefined) return undefined
  const rows = registered.rows + held.rows
  const shareSum = formatUnits(parseUnits(registered.shareSum) + parseUnits(held.shareSum))
  if (rows === held.file.rows && shareSum === held.file.shareSum) return held
  throw new Failure(
    'SliceMismatch',
    `${sliceName(slice)} has ${counted(rows, 'row')} summing to ${shareSum}, registered and held together; the file has ${counted(held.file.rows, 'row')} summing to ${held.file.shareSum}.`,
    { ...details, data: { rows, shareSum, fileRows: held.file.rows, fileShareSum: held.file.shareSum } },
  )
}

/** What a JobRegistered says of held rows. */
export const heldEvent = (held: HeldRows | undefined): Record<string, unknown> =>
  held === undefined
    ? {}
    : { held: { rows: held.rows, shareSum: held.shareSum, tracks: held.tracks, firstTracks: held.firstTracks } }
