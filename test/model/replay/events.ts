/*
 * The events of a trace, as test/model/replay.pml takes them: numbers only, and for people what happened.
 */

/** What happened; the names are the model's. */
type Kind =
  | 'SEEDED'
  | 'SET'
  | 'EXTENDED'
  | 'DELETED_KEY'
  | 'EXPIRED'
  | 'OPENED'
  | 'PLANNED'
  | 'CHUNK'
  | 'IS_DELETED'
  | 'BEGINS'
  | 'IS_REGISTERED'
  | 'IS_REUSED'
  | 'HALTED'
  | 'OVER'
  | 'WITHDRAWN_BY'
  | 'LOOKED'
  | 'HELD'
  | 'LET_GO'
  | 'NO_STEP'

/** The task that did it, as it was called. */
export type By = {
  readonly execution?: number
  readonly token?: number
  readonly job?: number
  readonly fence?: number
  readonly headJob?: number
  readonly headFence?: number
}

/** What was there behind it. */
export type Left = {
  readonly newestJob: number
  readonly newestFence: number
  readonly slot: number
  readonly shownJob: number
}

export type TraceEvent = By &
  Partial<Left> & {
    readonly kind: Kind
    readonly part?: number
    readonly number?: number
    /** The newest fence behind it is the floor that the database has at the end. */
    readonly isFloor?: boolean
    /** In words, for who reads a refusal. */
    readonly what: string
  }

/** No job: readers see no set. The same number is in sizes.pml. */
export const NOTHING = 31

/** In the order of the model's `Event`. */
const FIELDS = [
  'execution',
  'token',
  'job',
  'fence',
  'headJob',
  'headFence',
  'part',
  'number',
  'newestJob',
  'newestFence',
  'slot',
  'shownJob',
] as const

const NO_FIELDS = FIELDS.map(() => '0').join(',')

/** The program that sends the events to the model, one after the other. */
export const promelaOf = (events: readonly TraceEvent[]): string =>
  [
    '#include "replay.pml"',
    'init {',
    '  run Replay();',
    ...events.map((event) => `  events!${event.kind},${FIELDS.map((field) => event[field] ?? 0).join(',')};`),
    `  events!ENDS,${NO_FIELDS}`,
    '}',
  ].join('\n')
