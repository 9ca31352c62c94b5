/** Never `100 %` before the end: what is left may be what fails. */
export const percent = (done: number, all: number): string =>
  `${all === 0 ? 0 : done >= all ? 100 : Math.min(99, Math.floor((100 * done) / all))} %`

/** `[######....]` */
export const bar = (done: number, all: number, width = 20): string => {
  const full = all === 0 ? 0 : Math.floor((width * done) / all)
  return `[${'#'.repeat(full)}${'.'.repeat(width - full)}]`
}
