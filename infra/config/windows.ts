const SEOUL_AHEAD_OF_UTC = 9
const HOURS = 24

const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`

/**
 * When AWS may back up and maintain the stores, in UTC: half a day away from the month's dispatch, which AWS's own choice
 * might meet.
 *
 * @param hour of the schedule, in Seoul
 */
export const quietWindows = ({ hour }: { readonly hour: number }) => {
  const backup = (hour - SEOUL_AHEAD_OF_UTC + HOURS / 2 + HOURS) % HOURS
  const from = (backup + 1) % HOURS
  const to = (from + 1) % HOURS
  return {
    backup: `${clock(backup)}-${clock(from)}`,
    maintenance: `sun:${clock(from)}-${to === 0 ? 'mon' : 'sun'}:${clock(to)}`,
  }
}
