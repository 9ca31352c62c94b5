import { expect, test } from 'vitest'
import type { JobState } from '../../../../functions/contract/words.ts'
import { isHeldBy, isOpen, isRunning, isUnderFence, statusOf } from '../../../../functions/store/job/predicates.ts'

const job = (state: JobState, ended: { closed?: true; halted?: true; withdrawn?: true } = {}) => ({
  state,
  closed_at: ended.closed ? '2026-12-01 00:00:00' : null,
  halted_at: ended.halted ? '2026-12-01 00:00:00' : null,
  withdrawn_at: ended.withdrawn ? '2026-12-01 00:00:00' : null,
})

test.each([
  [job('DELETING'), true, true, 'being replaced'],
  [job('REGISTERING'), true, true, 'being replaced'],
  [job('DELETED', { halted: true }), true, false, 'halted'],
  [job('DELETING', { closed: true }), false, false, 'being replaced'],
  [job('DELETING', { closed: true, halted: true }), false, false, 'halted'],
  [job('REGISTERED'), false, false, 'settled'],
  [job('REGISTERED', { withdrawn: true }), false, false, 'withdrawn'],
  [job('REGISTERED', { halted: true }), false, false, 'settled'],
])('a job %o is open: %s, running: %s, and its slice %s', (row, open, running, status) => {
  expect(isOpen(row)).toBe(open)
  expect(isRunning(row)).toBe(running)
  expect(statusOf(row)).toBe(status)
})

test('a job is under a fence only where its number and its fence are the same', () => {
  const seen = { id: 7, fence: 3 }
  expect(isUnderFence(seen, { id: 7, fence: 3 })).toBe(true)
  for (const other of [{ id: 8, fence: 3 }, { id: 7, fence: 4 }, { id: 7, fence: 2 }, null, undefined])
    expect(isUnderFence(seen, other), JSON.stringify(other)).toBe(false)
})

test('a job is held by an acquisition only where job, fence and token are its own', () => {
  const row = { id: 7, fence: 3, lock_token: 'run/1' }
  expect(isHeldBy(row, { id: 7, fence: 3, token: 'run/1' })).toBe(true)
  for (const other of [
    { id: 8, fence: 3, token: 'run/1' },
    { id: 7, fence: 4, token: 'run/1' },
    { id: 7, fence: 3, token: 'run/2' },
    { id: 7, fence: 3, token: null },
  ])
    expect(isHeldBy(row, other), JSON.stringify(other)).toBe(false)
})
