/** How the command writes numbers, times and tables. */

const NUMBER = new Intl.NumberFormat('en-US')

export const count = (value: number): string => NUMBER.format(value)

/** `1 row`, `1,600 rows`. */
export const counted = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? '' : 's'}`

/** `8 s`, `3 min 20 s`, `1 h 05 min`. */
export const duration = (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds))
  const two = (value: number): string => String(value).padStart(2, '0')
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`
  return `${Math.floor(whole / 3_600)} h ${two(Math.floor((whole % 3_600) / 60))} min`
}

/** Never `100 %` before the end: what is left may be what fails. */
export const percent = (done: number, all: number): string =>
  `${all === 0 ? 0 : done >= all ? 100 : Math.min(99, Math.floor((100 * done) / all))} %`

/** `[######....]` */
export const bar = (done: number, all: number, width = 20): string => {
  const full = all === 0 ? 0 : Math.floor((width * done) / all)
  return `[${'#'.repeat(full)}${'.'.repeat(width - full)}]`
}

/**
 * Columns side by side, numbers to the right. Texts of any script go into the last column, which nothing has to be
 * aligned behind: a Hangul syllable is two columns wide on most terminals and one on some.
 */
export const table = (rows: readonly (readonly string[])[], right: readonly number[] = []): string[] => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows.map((row) =>
    row
      .map((cell, column) => {
        if (right.includes(column)) return cell.padStart(widths[column] ?? 0)
        return column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)
      })
      .join('  ')
      .trimEnd(),
  )
}

/** `name   value` lines under a heading. */
export const facts = (pairs: readonly (readonly [string, string])[]): string[] =>
  table(pairs.map(([name, value]) => [`  ${name}`, value]))
