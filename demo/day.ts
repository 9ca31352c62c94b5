import { count } from '../functions/contract/numbers.ts'
import type { DistributorFields } from '../functions/contract/operations.ts'
import type { Slice } from '../functions/contract/words.ts'
import { type Fingerprint, sliceFingerprint } from '../local/fingerprint.ts'
import type { Stack } from '../local/stack.ts'
import { createOperations } from '../operator/create-operations.ts'
import type { Operations } from '../operator/operations/operations.ts'
import type { Progress } from '../operator/operations/progress.ts'
import type { StartPlan } from '../operator/operations/start-plan.ts'
import { jobFigures, metricValues } from './figures.ts'
import type { Check, RunFigures } from './report.ts'
import { openSetting, type Setting } from './setting.ts'

/** A setting with an operator in it, and what has been seen so far. */
export type Day = Setting & {
  readonly operations: Operations
  readonly runs: RunFigures[]
  readonly checks: Check[]
}

/** Often enough for people; each look costs the engine, and so the run that is watched, a few milliseconds. */
const POLL_MS = 300

export const openDay = async (stack: Stack): Promise<Day> => {
  // The operations find their endpoints as every AWS tool does.
  Object.assign(process.env, stack.environment)
  const operations = createOperations({ ...stack.environment, SHARELOCK_POLL_MS: String(POLL_MS) })
  return { ...(await openSetting(stack)), operations, runs: [], checks: [] }
}

export const addDistributor = async (
  { operations }: Day,
  rules: Pick<DistributorFields, 'code' | 'sumRule' | 'partyScheme'>,
  month: string,
): Promise<Slice> => {
  const isThere = (await operations.distributors()).some(({ code }) => code === rules.code)
  const fields = { ...rules, name: rules.code, active: true, replaceMode: 'standby' as const }
  const { id } = await operations.putDistributor(isThere ? 'set' : 'add', fields, 'npm start')
  return { distributorId: id, distributor: rules.code, month }
}

/** Starts what was planned, as an operator who has read the plan and types what it asks for. @returns the run's ARN */
export const startPlanned = async ({ operations }: Day, plan: StartPlan, why: string): Promise<string> => {
  const { executionArn } = await operations.start(plan, {
    ...{ why },
    ...(plan.confirmation !== null && { confirmation: plan.confirmation }),
  })
  return executionArn
}

/** Compares a slice in MySQL with what it has to hold, to the last row. */
export const checkSlice = async (
  { stack, checks }: Day,
  slice: Slice,
  expected: Fingerprint,
  what: string,
): Promise<void> => {
  const found = await sliceFingerprint(stack.database.masterAddress, slice.distributor, slice.month)
  const holds = String(found) === String(expected)
  const detail = holds ? `${count(found.rows)} rows` : `expected ${expected}, found ${found}`
  checks.push({ what, holds, detail })
}

/** Notes the end of a run that has to be REGISTERED, and its figures if it is. */
export const checkRegistered = async (day: Day, end: Progress, name: string, what: string): Promise<void> => {
  const { sdk, runs, checks } = day
  const { failure, job } = end
  if (failure !== null || job === null) checks.push({ what, holds: false, detail: failure?.cause ?? 'it has no job' })
  else {
    checks.push({ what, holds: job.state === 'REGISTERED' })
    runs.push({ name, ...(await jobFigures(sdk, job)) })
  }
}

/** The two figures that no report has: the longest chunk transaction, and writes the fence refused. */
export const logFigures = async ({ stack }: Day): Promise<{ longestChunkMs: number; refusedWrites: number }> => {
  const durations = await metricValues(stack.logsFolder, 'chunk.duration')
  const refused = await metricValues(stack.logsFolder, 'fence.rejected')
  return {
    longestChunkMs: durations.reduce((longest, value) => Math.max(longest, value), 0),
    refusedWrites: refused.reduce((sum, value) => sum + value, 0),
  }
}
