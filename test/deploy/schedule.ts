import type { Place } from './place.ts'
import { signedCall } from './signed.ts'

type Schedule = { Name: string; GroupName?: string; Target: { Arn: string }; [key: string]: unknown }

/** What a settlement in this month registers: the month before, by the calendar of Seoul. */
export const monthScheduled = (now: Date): string => {
  const seoul = new Date(now.getTime() + 9 * 3_600_000)
  const first = new Date(Date.UTC(seoul.getUTCFullYear(), seoul.getUTCMonth() - 1, 1))
  return first.toISOString().slice(0, 7)
}

/** Gives the schedule that starts this machine another time, which is now, and switches it on. */
export const scheduleNow = async (place: Place, machine: string): Promise<void> => {
  const call = { service: 'scheduler', method: 'GET' } as const
  const { Schedules } = JSON.parse(await signedCall(place, { ...call, path: '/schedules' })) as {
    Schedules: Schedule[]
  }
  const found = Schedules.find(({ Target }) => Target.Arn === machine)
  if (found === undefined) throw new Error(`No schedule starts ${machine}`)
  const path = `/schedules/${encodeURIComponent(found.Name)}`
  const whole = JSON.parse(await signedCall(place, { ...call, path })) as Schedule
  const { Arn, CreationDate, LastModificationDate, Name, ...rest } = whole
  const at = new Date().toISOString().slice(0, 19)
  const body = { ...rest, State: 'ENABLED', ScheduleExpression: `at(${at})`, ScheduleExpressionTimezone: 'UTC' }
  await signedCall(place, { service: 'scheduler', method: 'PUT', path, body: JSON.stringify(body) })
}
