import type { TraceEvent } from './events.ts'

/** No slice gets so many fences in a trace: a step beyond it is a floor that a restore raised long after the one before. */
const STEP_MAX = 1_000

/** What no fence of a trace has in the model: it was issued in a history that was lost. */
const LOST = 30_000

const FENCES = ['fence', 'headFence', 'newestFence'] as const

/**
 * The trace with its fences as the model counts them, which knows of no floor: the first one at a floor is the next one. Only
 * the order of a slice's fences means something.
 */
export const withoutFloors = (events: readonly TraceEvent[]): TraceEvent[] => {
  const floors: { readonly from: number; readonly less: number }[] = []
  const counted = (fence: number): number => {
    const less = floors.findLast(({ from }) => fence >= from)?.less ?? 0
    return Math.min(fence - less, LOST)
  }
  let newest = 0
  for (const { newestFence = newest, isFloor = false } of events) {
    if (newestFence > newest + (isFloor ? 1 : STEP_MAX))
      floors.push({ from: newestFence, less: newestFence - counted(newest) - 1 })
    newest = newestFence
  }
  return events.map((event) => ({
    ...event,
    ...Object.fromEntries(FENCES.map((name) => [name, counted(event[name] ?? 0)])),
  }))
}
