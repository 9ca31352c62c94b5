import { count } from '../functions/contract/numbers.ts'
import { table } from '../operator/format/table.ts'
import type { JobFigures } from './figures.ts'

/** One thing that had to hold, and whether it did. */
export type Check = { readonly what: string; readonly holds: boolean; readonly detail?: string }

/** A run that reached REGISTERED, under the name the reader knows it by. */
export type RunFigures = JobFigures & { readonly name: string }

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
const rate = (rows: number, ms: number): string =>
  ms === 0 || rows === 0 ? '-' : count(Math.round(rows / (ms / 1_000)))

export const runTable = (runs: readonly RunFigures[]): string => {
  const rows = [
    ['run', 'staging', 'deleted rows', 'time', 'rows/s', 'registered rows', 'time', 'rows/s', 'lock held'],
    ...runs.map((run) => [
      run.name,
      seconds(run.stageMs),
      count(run.deletedRows),
      seconds(run.deleteMs),
      rate(run.deletedRows, run.deleteMs),
      count(run.registeredRows),
      seconds(run.registerMs),
      rate(run.registeredRows, run.registerMs),
      seconds(run.lockHeldMs),
    ]),
  ]
  return table(rows, [1, 2, 3, 4, 5, 6, 7, 8])
    .map((line) => `  ${line}`)
    .join('\n')
}

export const checkList = (checks: readonly Check[]): string =>
  checks
    .map(
      ({ what, holds, detail }) =>
        `  ${holds ? 'ok   ' : 'WRONG'}  ${what}${detail === undefined ? '' : `: ${detail}`}`,
    )
    .join('\n')
