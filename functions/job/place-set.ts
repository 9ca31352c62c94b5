import { otherSlot, type ReplaceMode, type Slice, type Slot } from '../contract/words.ts'
import { type ActiveSet, activeSet } from '../store/active-set.ts'
import { replaceModeOf } from '../store/distributor.ts'
import type { Placement } from '../store/job/fence.ts'
import { type JobRow, lastJobOfSlot } from '../store/job/row.ts'
import type { Reader } from '../store/mysql/tx.ts'

/** What a new job's place depends on. */
export type Seen = {
  readonly mode: ReplaceMode
  /** What readers see. */
  readonly active: ActiveSet | undefined
  /** The slice's newest job, which the new one follows, with the slot it wrote. */
  readonly newest: Pick<JobRow, 'slot' | 'state' | 'closed_at'> | undefined
  /** The slots that hold the wanted set whole, as far as jobs tell. */
  readonly holding: readonly Slot[]
}

/**
 * Where a new job's set will lie.
 *
 * - a slot holds the wanted set already: there, and nothing is deleted or registered; the one that readers see first
 * - readers see a set: the other slot, or in mode in-place the same one
 * - readers see none: the slot that the job before it began to write, or in mode standby the one that it did not fill
 */
export const placeSet = ({ mode, active, newest, holding }: Seen): Placement => {
  const [held] = [...holding].sort((one) => (one === active?.slot ? -1 : 1))
  if (held !== undefined) return { slot: held, reusesSet: true }
  if (active !== undefined) return { slot: mode === 'standby' ? otherSlot(active.slot) : active.slot, reusesSet: false }
  if (newest === undefined) return { slot: 0, reusesSet: false }
  const isFilled = newest.state === 'REGISTERED'
  return { slot: isFilled && mode === 'standby' ? otherSlot(newest.slot) : newest.slot, reusesSet: false }
}

/**
 * The slots whose last job registered this source. A later job that only began to write the slot counts as having written
 * it, whatever became of that job.
 */
const slotsHolding = async (reader: Reader, slice: Slice, digest: string): Promise<Slot[]> => {
  const slots: Slot[] = []
  for (const slot of [0, 1] as const) {
    const last = await lastJobOfSlot(reader, { ...slice, slot })
    if (last?.state === 'REGISTERED' && last.source_digest === digest) slots.push(slot)
  }
  return slots
}

/** What is to be known of the slice, in the transaction that opens the job. `digest`: of a set that may be reused. */
export const seePlace = async (
  reader: Reader,
  slice: Slice,
  newest: JobRow | undefined,
  digest: string | undefined,
): Promise<Seen> => ({
  mode: await replaceModeOf(reader, slice.distributorId),
  active: await activeSet(reader, slice),
  newest,
  holding: digest === undefined ? [] : await slotsHolding(reader, slice, digest),
})
