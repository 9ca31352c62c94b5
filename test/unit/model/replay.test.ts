import { expect, test } from 'vitest'
import { type Left, NOTHING, type TraceEvent } from '../../model/replay/events.ts'
import { type Mode, replay } from '../../model/replay/replay.ts'

/* Traces by hand: what the protocol does is taken by the model, and each way of doing it wrong is refused where it is wrong. */

const left = (newestJob: number, newestFence: number, shownJob: number = NOTHING, slot = 0): Left => ({
  newestJob,
  newestFence,
  shownJob,
  slot,
})

type Done = Omit<TraceEvent, 'what'>

/** A job of two register chunks by one execution under one token, all of the same number. */
const jobOf = (job: number, slot: number, before: Left, fence = job) => {
  const by = { token: job, job, fence }
  const open = { ...before, newestJob: job, newestFence: fence }
  const chunk = (part: number, number: number): Done => ({ kind: 'CHUNK', ...by, part, number, slot })
  return {
    acquired: { kind: 'SET', token: job } as Done,
    opened: {
      ...{ kind: 'OPENED', execution: job, token: job, number: job },
      ...{ headJob: before.newestJob, headFence: before.newestFence },
      ...open,
    } as Done,
    planned: { kind: 'PLANNED', ...by, number: 1, ...open } as Done,
    deletes: chunk(0, 1),
    deleted: { kind: 'IS_DELETED', ...by, ...open } as Done,
    begins: { kind: 'BEGINS', ...by, number: 3, ...open } as Done,
    registers1: chunk(1, 1),
    registers2: chunk(1, 2),
    registered: { kind: 'IS_REGISTERED', ...by, ...left(job, fence, job, slot) } as Done,
    halted: { kind: 'HALTED', execution: job, job, ...open, newestFence: fence + 1 } as Done,
    released: { kind: 'DELETED_KEY', token: job } as Done,
  }
}

const SEEDED: Done = { kind: 'SEEDED', slot: 0 }
const first = jobOf(1, 0, left(0, 0))
const second = jobOf(2, 1, left(1, 1, 1, 0))
const FIRST: readonly Done[] = [SEEDED, ...Object.values(first).filter(({ kind }) => kind !== 'HALTED')]
/** The standby slot of the second job is empty, so its plan has no range. */
const planned2: Done = { ...second.planned, number: 0 }
const SECOND: readonly Done[] = [
  ...[second.acquired, second.opened, planned2, second.deleted, second.begins],
  ...[second.registers1, second.registers2, second.registered, second.released],
]

/** The place of the event that is refused; undefined where none is. */
const refusedOf = async (events: readonly Done[], mode: Mode = 'standby'): Promise<number | undefined> =>
  (
    await replay(
      events.map((event) => ({ ...event, what: event.kind })),
      mode,
    )
  )?.index

/** The events with one of them moved ahead of another. */
const moved = (events: readonly Done[], event: Done, ahead: Done): Done[] => {
  const rest = events.filter((one) => one !== event)
  const at = rest.indexOf(ahead)
  return [...rest.slice(0, at), event, ...rest.slice(at)]
}

test('two jobs, one after the other, are what the model does', async () => {
  expect(await refusedOf([...FIRST, ...SECOND])).toBeUndefined()
})

test.each<[string, Done, Done, Done]>([
  ['a register chunk before the job is REGISTERING', first.registers1, first.begins, first.registers1],
  ['a register chunk before the job is DELETED', first.registers1, first.deleted, first.registers1],
  ['DELETED before the delete chunk', first.deleted, first.deletes, first.deleted],
  ['REGISTERED before the last chunk', first.registered, first.registers2, first.registered],
  ['REGISTERING before DELETED', first.begins, first.deleted, first.begins],
  ['a released lock before REGISTERED', first.released, first.registered, first.released],
])('%s is refused', async (_, event, ahead, refused) => {
  const events = moved(FIRST, event, ahead)
  expect(await refusedOf(events)).toBe(events.indexOf(refused))
})

test.each<[string, Done, Done]>([
  ['a chunk a second time', first.registers2, { ...first.registers1 }],
  ['a chunk of the slot that readers see', second.registers2, { ...second.registers2, slot: 0 }],
  ['a chunk under another fence', second.registers2, { ...second.registers2, fence: 1 }],
  ['a chunk under another token', second.registers2, { ...second.registers2, token: 1 }],
  ['a switch ahead of REGISTERED', second.begins, { ...second.begins, ...left(2, 2, 2, 1) }],
  ['REGISTERED without a switch', second.registered, { ...second.registered, ...left(2, 2, 1, 0) }],
  ['nothing shown while a job of the mode standby runs', second.deleted, { ...second.deleted, ...left(2, 2) }],
  ['a job that is opened from an older head', second.opened, { ...second.opened, headFence: 0 }],
  ['a lock taken from a run that holds it', second.begins, { kind: 'SET', token: 9, part: 1 }],
  ['a renewal of a lock that is not there', second.begins, { kind: 'EXTENDED', token: 9 }],
  ['a transaction that is no step', second.begins, { kind: 'NO_STEP' }],
])('%s is refused', async (_, instead, event) => {
  const events = [...FIRST, ...SECOND].map((one) => (one === instead ? event : one))
  expect(await refusedOf(events)).toBe(events.indexOf(event))
})

const HEAD = [...FIRST, second.acquired, second.opened, planned2]
const third = jobOf(3, 1, left(2, 3, 1, 0), 4)

test('a halted job is taken over by another run; what the first still writes is refused', async () => {
  const takenOver: Done = { ...third.opened, number: 2, newestJob: 2 }
  const events = [...HEAD, second.halted, second.released, third.acquired, takenOver]
  expect(await refusedOf(events)).toBeUndefined()
  expect(await refusedOf([...events, second.deleted])).toBe(events.length)
  // The lock goes before the fence is raised.
  expect(await refusedOf([...HEAD, second.released, second.halted])).toBe(HEAD.length)
})

test('a second open job, and one of an execution that is over, are refused', async () => {
  const other: Done = { ...third.opened, headFence: 2, newestFence: 3, number: 3 }
  expect(await refusedOf([...HEAD, { kind: 'EXPIRED', token: 2 }, third.acquired, other])).toBe(HEAD.length + 2)
  const over: Done = { kind: 'OVER', execution: 2 }
  expect(await refusedOf([...FIRST, second.acquired, over, second.opened])).toBe(FIRST.length + 2)
})

test('readers see the set that the model shows, whole; a switch over one who holds it is refused', async () => {
  const [last, ...before] = [second.registered, ...SECOND.slice(0, -2).toReversed()]
  const events = [...FIRST, ...before.toReversed()]
  const seen = (shownJob: number, slot: number, part = 1): Done => ({
    kind: 'LOOKED',
    part,
    ...left(2, 2, shownJob, slot),
  })
  expect(await refusedOf([...events, seen(1, 0), last, seen(2, 1)])).toBeUndefined()
  expect(await refusedOf([...events, seen(2, 1)])).toBe(events.length)
  expect(await refusedOf([...events, seen(1, 0, 0)])).toBe(events.length)
  expect(await refusedOf([...events, seen(NOTHING, 0)])).toBe(events.length)
  const held: Done = { kind: 'HELD', shownJob: 1 }
  expect(await refusedOf([...events, held, { ...held, kind: 'LET_GO' }, last])).toBeUndefined()
  expect(await refusedOf([...events, held, last])).toBe(events.length + 1)
})

test('in the mode in-place a job hides the set that it deletes', async () => {
  const inPlace = jobOf(2, 0, { ...left(1, 1), slot: 0 })
  const events = [...FIRST, ...Object.values(inPlace).filter(({ kind }) => kind !== 'HALTED')]
  expect(await refusedOf(events, 'in-place')).toBeUndefined()
  expect(await refusedOf(events, 'standby')).toBe(FIRST.length + 1)
})

test('a withdrawn set is shown again by a job that reuses it; a job planned on it before is refused', async () => {
  const withdrawn: Done = { kind: 'WITHDRAWN_BY', job: 1, ...left(1, 2) }
  const again: Done = {
    ...{ kind: 'OPENED', execution: 2, token: 2, number: 1, headJob: 1, headFence: 2 },
    ...left(2, 3),
  }
  const reused: Done = { kind: 'IS_REUSED', token: 2, job: 2, fence: 3, number: 3, ...left(2, 3, 2) }
  const events = [...FIRST, withdrawn, second.acquired, again, reused]
  expect(await refusedOf(events)).toBeUndefined()
  expect(await refusedOf(events.map((one) => (one === again ? { ...again, headFence: 1 } : one)))).toBe(
    FIRST.length + 2,
  )
  // Rows that are not whole are no set: the file has another chunk.
  expect(await refusedOf(events.map((one) => (one === reused ? { ...reused, number: 7 } : one)))).toBe(FIRST.length + 3)
  const unraised: Done = { ...withdrawn, newestFence: 1 }
  expect(await refusedOf([...FIRST, unraised])).toBe(FIRST.length)
})
