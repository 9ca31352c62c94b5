import { quoted } from '../functions/contract/visible.ts'
import { createClients } from './operations/clients.ts'
import { diagnose } from './operations/doctor/diagnose.ts'
import { diffSets, exportSet } from './operations/job-set.ts'
import { keepPlan, keptPlan } from './operations/kept-plan.ts'
import { POLL_MS } from './operations/limits.ts'
import { lookAt } from './operations/look.ts'
import { OperationError } from './operations/operation-error.ts'
import type { Operations } from './operations/operations.ts'
import { openJobOf, planStart, planUndo } from './operations/plan.ts'
import { proposeApart, testApart } from './operations/propose/look-apart.ts'
import { reportOf } from './operations/report.ts'
import { describeRun, executionArnOf, runningOf } from './operations/runs.ts'
import { Speeds } from './operations/speed.ts'
import { resume, start } from './operations/start.ts'
import { endRun, stop } from './operations/stop.ts'
import { validatePath } from './operations/validate.ts'
import { watchRun } from './operations/watch.ts'

/** What the operations read of the environment; everything else the AWS SDK reads by itself, from process.env. */
export type OperationsEnvironment = {
  readonly SHARELOCK_STAGE?: string
  /** Milliseconds between two looks of `watch`. */
  readonly SHARELOCK_POLL_MS?: string
}

const stageOf = ({ SHARELOCK_STAGE = '' }: OperationsEnvironment): string => {
  if (/^[a-z][a-z0-9-]{0,30}$/.test(SHARELOCK_STAGE)) return SHARELOCK_STAGE
  const problem = SHARELOCK_STAGE === '' ? 'No stage is named' : `${quoted(SHARELOCK_STAGE)} is no stage`
  throw new OperationError('Usage', `${problem}: give --stage, e.g. --stage prod, or set SHARELOCK_STAGE.`)
}

/** The operations against one stage. Nothing is called before it is needed. @throws OperationError Usage */
export const createOperations = (env: OperationsEnvironment): Operations => {
  const stage = stageOf(env)
  const pollMs = Number(env.SHARELOCK_POLL_MS ?? POLL_MS)
  if (!(pollMs >= 1)) throw new OperationError('Usage', 'SHARELOCK_POLL_MS is a number of milliseconds.')
  const clients = createClients(stage)
  const { identity, inspect, operate } = clients
  const speeds = new Speeds()
  return {
    stage,
    identity,
    validate: validatePath,
    planStart: (slice, source, onRows, signal, sinks) =>
      planStart(clients, slice, source, false, { onRows, sinks, ...(signal && { signal }) }),
    keepPlan: (plan) => keepPlan(clients, plan),
    keptPlan: (id, onRows, signal) => keptPlan(clients, id, { onRows, ...(signal && { signal }) }),
    start: (plan, options) => start(clients, plan, options),
    watch: (executionArn, signal) => watchRun(clients, executionArn, speeds, pollMs, signal),
    look: (executionArn) => lookAt(clients, executionArn, speeds),
    runningExecution: async (slice) => {
      const { jobs } = await inspect({ question: 'slice', ...slice })
      const runs = await runningOf(clients, slice, jobs)
      const opener = openJobOf({ jobs })?.execution
      return (runs.find(({ executionArn }) => executionArn === opener) ?? runs[0])?.executionArn ?? null
    },
    list: async (from, to) => {
      const [slices, warned, distributors] = await Promise.all([
        inspect({ question: 'slices', from, to }),
        inspect({ question: 'warned', from, to }),
        inspect({ question: 'distributors' }),
      ])
      return { slices, warned, distributors }
    },
    show: (what) =>
      'job' in what ? inspect({ question: 'job', job: what.job }) : inspect({ question: 'slice', ...what }),
    endOfHolder: async (lock) => {
      if (lock === null || lock === 'unreachable') return null
      const { stateMachineArn } = await clients.deployment()
      const run = await describeRun(clients.sfn, executionArnOf(stateMachineArn, lock.holder)).catch(() => undefined)
      if (run === undefined || run?.status === 'RUNNING') return null
      return run?.status ?? 'GONE'
    },
    resume: (slice, options) => resume(clients, slice, options),
    stop: (slice, why) => stop(clients, slice, why),
    endRun: (slice, execution, why) => endRun(clients, slice, execution, why),
    planUndo: (slice) => planUndo(clients, slice),
    undo: (plan, options) => start(clients, plan, options),
    unlock: async (slice, tokenDigest, why) =>
      operate({ action: 'unlock', caller: await identity(), why, ...slice, tokenDigest }),
    withdraw: async (job, why) => operate({ action: 'withdraw', caller: await identity(), why, job }),
    distributors: () => inspect({ question: 'distributors' }),
    putDistributor: async (mode, distributor, why) =>
      operate({ action: 'put-distributor', caller: await identity(), why, mode, distributor }),
    profile: (distributor, version) => inspect({ question: 'profile', distributor, version }),
    testProfile: testApart,
    proposeProfile: proposeApart,
    setProfile: async (distributor, profile, why) =>
      operate({ action: 'set-profile', caller: await identity(), why, distributor, profile }),
    report: (slice, form, execution) => reportOf(clients, slice, form, execution),
    exportSet: (job) => exportSet(clients, job),
    diffSets: (jobs, sinks) => diffSets(clients, jobs, sinks),
    doctor: (from, to) => diagnose(clients, from, to),
    audit: (filter) => inspect({ question: 'audit', ...filter }),
  }
}
