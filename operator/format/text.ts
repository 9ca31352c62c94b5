const NUMBER = new Intl.NumberFormat('en-US')

export const count = (value: number): string => NUMBER.format(value)

/** `1 row`, `1,600 rows`. @param nouns of any other number than one */
export const counted = (value: number, noun: string, nouns = `${noun}s`): string =>
  `${count(value)} ${value === 1 ? noun : nouns}`

/** Never `100 %` before the end: what is left may be what fails. */
export const percent = (done: number, all: number): string =>
  `${all === 0 ? 0 : done >= all ? 100 : Math.min(99, Math.floor((100 * done) / all))} %`

/** `[######....]` */
export const bar = (done: number, all: number, width = 20): string => {
  const full = all === 0 ? 0 : Math.floor((width * done) / all)
  return `[${'#'.repeat(full)}${'.'.repeat(width - full)}]`
}
