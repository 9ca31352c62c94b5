import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { BEGINNINGS, type Beginning } from './matrix/beginning.ts'
import { MOMENTS } from './matrix/moments.ts'
import { FAULTS } from './matrix.ts'

export type Options = {
  /** One fault or one moment, by their ids. */
  readonly only: string | undefined
  readonly moment: string | undefined
  /** How the slice is before each run; by turns where it is not told. */
  readonly beginning: Beginning | undefined
  /** One of so many trials, spread over all of them. */
  readonly every: number
  readonly tries: number
  readonly labs: number
  /** The soak alone. */
  readonly soak: boolean
  /** Of the soak; 0: none. */
  readonly minutes: number
  readonly seed: number
}

export const USAGE = `node test/faults/main.ts [options]

  --only FAULT      the trials of one fault
  --moment MOMENT   the trials of one moment
  --beginning HOW   first, standby or in-place: how the slice is before each run, by turns by default
  --every N         every Nth trial only, 1 by default
  --tries N         runs of each trial, 1 by default; each from the next beginning
  --labs N          stacks side by side, one more than cores by default: a fault is mostly waited for
  --soak            the random soak alone
  --minutes N       of the soak, 2 by default; after a whole matrix or with --soak
  --seed S          of the soak; printed where none is given
  --list            the faults and moments

Faults, by the first words of their names:
  lambda            sandboxes killed, stopped, overtaken, outlived, called twice, out of time
  valkey            Valkey away, empty, full, silent, slow, failed over to a replica that is behind
  mysql             MySQL away, frozen, full, read only, restored to an earlier moment; its connections and locks
  s3, sns           objects and transfers damaged, cut, stalled, slower than a task has time; a topic that is silent
  execution         stopped, timed out, redriven
  status-event      late, twice, never, or when its name is another execution's
  schedule, clock   delivered again; an hour ahead or behind
  operator          withdraws the set that is shown
`

/** Each takes about 2 GB. */
const LABS_MAX = 4

const numberOf = (name: string, text: string): number => {
  const value = Number(text)
  if (!Number.isFinite(value) || value < 0) throw new Error(`--${name} takes a number, not ${text}`)
  return value
}

/** @throws Error with a sentence where an option is not one. */
export const readOptions = (args: readonly string[]): Options | 'help' | 'list' => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      moment: { type: 'string' },
      beginning: { type: 'string' },
      every: { type: 'string', default: '1' },
      tries: { type: 'string', default: '1' },
      labs: { type: 'string', default: String(Math.min(availableParallelism() + 1, LABS_MAX)) },
      soak: { type: 'boolean', default: false },
      minutes: { type: 'string', default: '2' },
      seed: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  if (values.list) return 'list'
  const { only, moment, soak } = values
  if (only !== undefined && !FAULTS.some(({ id }) => id === only))
    throw new Error(`There is no fault ${only}: see --list`)
  if (moment !== undefined && !MOMENTS.some(({ id }) => id === moment))
    throw new Error(`There is no moment ${moment}: see --list`)
  const beginning = BEGINNINGS.find((one) => one === values.beginning)
  if (values.beginning !== undefined && beginning === undefined)
    throw new Error(`There is no beginning ${values.beginning}: ${BEGINNINGS.join(', ')}`)
  return {
    only,
    moment,
    beginning,
    soak,
    every: Math.max(1, numberOf('every', values.every)),
    tries: Math.max(1, numberOf('tries', values.tries)),
    labs: Math.max(1, numberOf('labs', values.labs)),
    minutes: numberOf('minutes', values.minutes),
    seed: values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : numberOf('seed', values.seed),
  }
}
