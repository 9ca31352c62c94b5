import type { Checks, OpenJobCheck } from '../../../functions/contract/checks.ts'
import { executionNameOf } from '../../../functions/contract/execution.ts'
import { remedyOf, sliceOptions } from '../../../functions/contract/remedies.ts'
import type { LockReport } from '../../../functions/contract/reports.ts'
import type { SliceName } from '../../../functions/contract/words.ts'
import { sliceName } from '../../../functions/contract/words.ts'
import type { Clients } from '../clients.ts'
import type { Finding } from '../finding.ts'
import { QUIET_S } from '../limits.ts'
import { describeRun, type Run } from '../runs.ts'

const resume = (slice: SliceName): string => `sharelock resume ${sliceOptions(slice)}`

const unlock = (slice: SliceName, { tokenDigest }: LockReport): string =>
  `sharelock unlock ${sliceOptions(slice)} --token ${tokenDigest}`

const lockText = ({ holder, remainingMs }: LockReport): string =>
  `held by ${holder} ${remainingMs === null ? 'without an end' : `for ${Math.ceil(remainingMs / 1_000)} s more`}`

/** A lock that no job carries. A run that is about to open its job, or waits in a retry, has one for good reason. */
export const lockFindings = ({ strayLocks }: Checks, runs: readonly Run[] | null): Finding[] =>
  strayLocks
    .filter(({ lock }) => runs?.some(({ name }) => name === lock.holder) !== true)
    .map(({ distributor, month, lock }) => ({
      check: 'lock-without-job',
      severity: 'error',
      what: `The lock of ${distributor} ${month} is ${lockText(lock)}, but no open job carries it and ${runs === null ? 'whether its holder runs is not known' : 'its holder does not run'}.`,
      remedy: unlock({ distributor, month }, lock),
      slice: { distributor, month },
    }))

/** Open jobs that wait for a person. A job whose execution runs is left to it, unless nothing has moved for long. */
export const jobFindings = async (
  clients: Clients,
  checks: Checks,
  runs: readonly Run[] | null,
): Promise<Finding[]> => {
  const found: Finding[] = []
  for (const job of checks.openJobs) {
    const isRunning = runs?.some(({ executionArn }) => executionArn === job.execution)
    // A list may be late by a moment; before an execution is called dead it is asked for by its name.
    const ended = isRunning === true ? null : await describeRun(clients.sfn, job.execution)
    const finding = findingOf(job, isRunning === true || ended?.status === 'RUNNING', ended)
    if (finding !== null) found.push(finding)
  }
  return found
}

const findingOf = (job: OpenJobCheck, isRunning: boolean, ended: Run | null): Finding | null => {
  const { distributor, month } = job
  const slice = { distributor, month }
  const name = `Job ${job.job} of ${sliceName(slice)}`
  if (job.haltedAt !== null) {
    const { advice, command } = remedyOf(job.haltError ?? '', slice, true)
    return {
      check: 'halted-job',
      severity: 'warning',
      what: `${name} halted in ${job.state} (${job.haltError}); its rows cannot be read until it is REGISTERED. ${advice}.`,
      remedy: command,
      slice,
    }
  }
  const lock = job.lock === 'unreachable' ? null : job.lock
  if (!isRunning)
    return {
      check: 'open-job-without-run',
      severity: 'error',
      what: `${name} is open in ${job.state}, but its execution ${executionNameOf(job.execution)} ${ended === null ? 'does not exist' : `ended as ${ended.status}`}; ${
        lock === null ? 'it has no lock' : `its lock is ${lockText(lock)}`
      } and it was last seen at work ${minutes(job.quietS)} ago.`,
      remedy: lock === null ? resume(slice) : unlock(slice, lock),
      slice,
    }
  if (lock !== null || job.lock === 'unreachable' || job.quietS < QUIET_S) return null
  return {
    check: 'open-job-without-progress',
    severity: 'error',
    what: `${name} is open in ${job.state} and its execution runs, but it has no lock and was last seen at work ${minutes(job.quietS)} ago.`,
    remedy: `sharelock stop ${sliceOptions(slice)}`,
    slice,
  }
}

const minutes = (seconds: number): string => (seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`)
