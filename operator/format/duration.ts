/** What comes after the number of hours, of minutes and of seconds. */
type Units = readonly [hours: string, minutes: string, seconds: string]

/** Writes seconds as people say them in one language: the largest unit they fill, and the next smaller one. */
export const durationIn =
  ([hours, minutes, seconds]: Units) =>
  (value: number): string => {
    const whole = Math.max(0, Math.round(value))
    const two = (part: number): string => String(part).padStart(2, '0')
    if (whole < 60) return `${whole}${seconds}`
    if (whole < 3_600) return `${Math.floor(whole / 60)}${minutes} ${two(whole % 60)}${seconds}`
    return `${Math.floor(whole / 3_600)}${hours} ${two(Math.floor((whole % 3_600) / 60))}${minutes}`
  }

/** `8 s`, `3 min 20 s`, `1 h 05 min`. */
export const duration = durationIn([' h', ' min', ' s'])
