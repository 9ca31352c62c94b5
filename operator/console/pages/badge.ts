import { html } from 'hono/html'
import type { SliceStatus } from '../../../functions/contract/words.ts'
import type { Html } from '../parts/format.ts'
import type { Words } from '../words/en.ts'

/** How a slice or job is, at a glance: always a shape and a word, never a colour alone. */
export type BadgeShape = 'running' | 'halted' | 'late' | 'settled' | 'closed' | 'none'

/** Each shape is told from the others in grey as well: triangle, square, clock, tick, crossed ring, dash. */
const SHAPES: Record<BadgeShape, string> = {
  running: 'M4 2.5v11l9-5.5z',
  halted: 'M3 3h10v10H3z',
  late: 'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zm0 1.8a5.2 5.2 0 1 1 0 10.4A5.2 5.2 0 0 1 8 2.8zM7.1 4.4v4.1l3 1.8.9-1.5-2.1-1.2V4.4z',
  settled: 'M6.3 13.2 1.6 8.6l1.6-1.7 3 2.9 6.5-7 1.7 1.6z',
  closed:
    'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zm0 1.8c1.1 0 2.2.4 3 .9L3.7 11A5.2 5.2 0 0 1 8 2.8zm4.3 2.2A5.2 5.2 0 0 1 5 12.3z',
  none: 'M4 7.2h8v1.6H4z',
}

export const shape = (name: BadgeShape): Html =>
  html`<svg class="shape ${name}" viewBox="0 0 16 16" width="12" height="12" aria-hidden="true"><path d="${SHAPES[name]}"/></svg>`

export const badgeShapeOf = (status: SliceStatus | 'closed'): BadgeShape =>
  status === 'being replaced' ? 'running' : status === 'withdrawn' ? 'closed' : status

const statusWord = (words: Words, status: SliceStatus | 'closed'): string =>
  ({
    settled: words.statusSettled,
    'being replaced': words.statusReplaced,
    halted: words.statusHalted,
    withdrawn: words.statusWithdrawn,
    closed: words.statusClosed,
  })[status]

export const badge = (words: Words, status: SliceStatus | 'closed'): Html => {
  const name = badgeShapeOf(status)
  return html`<span class="badge ${name}">${shape(name)}${statusWord(words, status)}</span>`
}
