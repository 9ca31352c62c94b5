import type { JobFigures } from './figures.ts'

/** One thing that had to hold, and whether it did. */
export type Check = { readonly what: string; readonly holds: boolean; readonly detail?: string }

/** A run that reached REGISTERED, under the name the reader knows it by. */
export type RunFigures = JobFigures & { readonly name: string }

const number = (value: number): string => Math.round(value).toLocaleString('en-US')
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
const rate = (rows: number, ms: number): string => (ms === 0 || rows === 0 ? '-' : number(rows / (ms / 1_000)))

/** Columns as wide as their widest cell; numbers to the right. */
const table = (rows: readonly string[][]): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows
    .map((row) =>
      row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))),
    )
    .map((row) => `  ${row.join('   ')}`)
    .join('\n')
}

export const runTable = (runs: readonly RunFigures[]): string =>
  table([
    ['run', 'staging', 'deleted rows', 'time', 'rows/s', 'registered rows', 'time', 'rows/s', 'lock held'],
    ...runs.map((run) => [
      run.name,
      seconds(run.stageMs),
      number(run.deletedRows),
      seconds(run.deleteMs),
      rate(run.deletedRows, run.deleteMs),
      number(run.registeredRows),
      seconds(run.registerMs),
      rate(run.registeredRows, run.registerMs),
      seconds(run.lockHeldMs),
    ]),
  ])

export const checkList = (checks: readonly Check[]): string =>
  checks
    .map(
      ({ what, holds, detail }) =>
        `  ${holds ? 'ok   ' : 'WRONG'}  ${what}${detail === undefined ? '' : `: ${detail}`}`,
    )
    .join('\n')
