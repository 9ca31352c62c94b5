import { expect, test } from 'vitest'
import type { TraceEvent } from '../../model/replay/events.ts'
import { withoutFloors } from '../../model/replay/fences.ts'

const FLOOR = 1_796_000_000
const event = (newestFence?: number, by: Partial<TraceEvent> = {}): TraceEvent => ({
  kind: 'OPENED',
  what: '',
  ...(newestFence === undefined ? {} : { newestFence }),
  ...by,
})
const newest = (events: TraceEvent[]) => withoutFloors(events).map(({ newestFence }) => newestFence)

test('fences count on over a floor, and over the next one', () => {
  expect(newest([event(1), event(2), event(FLOOR), event(FLOOR + 1), event(FLOOR + 5_000)])).toEqual([1, 2, 3, 4, 5])
  expect(newest([event(FLOOR), event(FLOOR + 1)])).toEqual([1, 2])
})

test('fences count on over a floor that is known, however near it is', () => {
  const near = [event(FLOOR), event(FLOOR + 1), event(FLOOR + 9, { isFloor: true }), event(FLOOR + 10)]
  expect(newest(near)).toEqual([1, 2, 3, 4])
  // Unknown, it is a fence that the model does not give.
  expect(newest(near.map(({ isFloor: _, ...one }) => one))).toEqual([1, 2, 10, 11])
})

test('who was told a fence before the floor, or behind it, is told the same one', () => {
  const [, second, late, lost] = withoutFloors([
    event(1),
    event(FLOOR, { fence: FLOOR, headFence: 1 }),
    event(undefined, { fence: 1 }),
    event(undefined, { fence: FLOOR - 7_000 }),
  ])
  expect(second).toMatchObject({ fence: 2, headFence: 1, newestFence: 2 })
  expect(late).toMatchObject({ fence: 1 })
  // Of a history that is lost: it is no fence of this one.
  expect(lost).toMatchObject({ fence: 30_000 })
})
