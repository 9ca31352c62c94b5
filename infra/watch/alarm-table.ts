import { Duration } from 'aws-cdk-lib'
import { LOCK_TTL_MS } from '../../functions/contract/limits.ts'
import { type AlarmSpec, CPU_HIGH_PERCENT, HALF_HOUR_PERIODS, type Watched } from './alarm-spec.ts'
import { databaseAlarms } from './database-alarms.ts'
import { functionAlarms } from './function-alarms.ts'
import { emitted, lockNodes, over } from './metrics.ts'
import { triggerAlarms } from './trigger-alarms.ts'

/** A lock is extended at every chunk's begin; one that reaches three quarters of its life in between is nearly lost. */
const LOCK_OLD_MS = (LOCK_TTL_MS * 3) / 4
const LOCK_MEMORY_HIGH_PERCENT = 70
const DAY_PERIODS = 24
const JOB_LONG_S = 3_600
/** A node of class T earns 12 an hour and more, and keeps 288 and more; a silent one counts as full. */
const LOCK_CREDITS_LOW = 30
const CREDITS_FULL = 288

const HOUR = Duration.hours(1)

const jobs = ({ config: { stage, alarms } }: Watched): AlarmSpec[] => [
  {
    name: 'job-halted',
    meaning: 'A job stopped before REGISTERED; its slice is not readable until it is resumed.',
    metric: emitted(stage, 'job.halted', 'Sum'),
    threshold: 1,
  },
  {
    name: 'job-left-halted',
    meaning: 'A halted job has waited for a day and nobody resumed it.',
    metric: emitted(stage, 'job.open.halted', 'Minimum', HOUR),
    threshold: 1,
    periods: DAY_PERIODS,
  },
  {
    name: 'job-long',
    meaning: 'A job has been running for an hour; one of a million rows takes minutes.',
    metric: emitted(stage, 'job.open.age', 'Maximum'),
    threshold: JOB_LONG_S,
  },
  {
    name: 'fence-rejected',
    meaning:
      'MySQL refused a write under an old fence: two runs met. Nothing is damaged; why they met should be known.',
    metric: emitted(stage, 'fence.rejected', 'Sum'),
    threshold: 1,
  },
  {
    name: 'outbox-old',
    pages: true,
    meaning: `An event has not been published for ${alarms.outboxAgeMinutes} minutes.`,
    metric: emitted(stage, 'outbox.age', 'Maximum'),
    threshold: alarms.outboxAgeMinutes * 60,
  },
  {
    name: 'outbox-refused',
    meaning: 'The topic refuses an event; it was set aside, and its consumers do not know.',
    metric: emitted(stage, 'outbox.refused', 'Maximum'),
    threshold: 1,
  },
  {
    name: 'month-missing',
    meaning: 'Active distributors had no file when the month was dispatched.',
    metric: emitted(stage, 'month.missing', 'Maximum'),
    threshold: 1,
  },
  {
    name: 'source-warned',
    meaning: 'A file of the schedule has warnings, and waits for an operator to confirm them or to ask for another.',
    metric: emitted(stage, 'source.warned', 'Maximum'),
    threshold: 1,
  },
  {
    name: 'month-overdue',
    pages: true,
    meaning: `It is day ${alarms.registeredByDay} and active distributors have no REGISTERED job of the month that is due.`,
    metric: emitted(stage, 'month.overdue', 'Maximum', HOUR),
    threshold: 1,
  },
]

const locks = ({ config: { stage, lock }, deployed }: Watched): AlarmSpec[] => [
  {
    name: 'lock-near-ttl',
    meaning: `A lock was extended only after three quarters of its life of ${LOCK_TTL_MS / 1_000} s.`,
    metric: emitted(stage, 'lock.age', 'Maximum'),
    threshold: LOCK_OLD_MS,
  },
  {
    name: 'lock-unlock-failed',
    meaning: 'A lock was not released; the slice stays locked until its TTL ends.',
    metric: emitted(stage, 'lock.unlock.failure', 'Sum'),
    threshold: 1,
  },
  {
    name: 'lock-renew-failing',
    pages: true,
    meaning: 'Running jobs can not extend their locks: lost, or Valkey is out of reach.',
    metric: emitted(stage, 'lock.renew.failure', 'Sum'),
    threshold: 3,
  },
  {
    name: 'lock-evictions',
    pages: true,
    meaning: 'Valkey evicted keys, and with them perhaps locks. It must never: its policy is noeviction.',
    metric: over('SUM', lockNodes(deployed, 'Evictions', 'Sum'), 'evictions'),
    threshold: 1,
  },
  {
    name: 'lock-memory',
    pages: true,
    meaning: 'Valkey fills up; when it is full, no lock can be acquired.',
    metric: over('MAX', lockNodes(deployed, 'DatabaseMemoryUsagePercentage', 'Maximum'), 'memory, percent'),
    threshold: LOCK_MEMORY_HIGH_PERCENT,
  },
  {
    name: 'lock-cpu',
    meaning: 'Valkey is busy for half an hour, which locks alone do not explain.',
    metric: over('MAX', lockNodes(deployed, 'EngineCPUUtilization', 'Average'), 'engine CPU, percent'),
    threshold: CPU_HIGH_PERCENT,
    periods: HALF_HOUR_PERIODS,
  },
  // Nodes of class T do a tenth of their work once these are spent.
  ...(lock.kind === 'new' && lock.nodeType.startsWith('cache.t')
    ? [
        {
          name: 'lock-credits',
          meaning: 'A node of Valkey has nearly spent its CPU credits, and will be slow.',
          metric: over('MIN', lockNodes(deployed, 'CPUCreditBalance', 'Minimum'), 'CPU credits', CREDITS_FULL),
          threshold: LOCK_CREDITS_LOW,
          below: true,
        } as const,
      ]
    : []),
]

/** Every alarm of a stage. */
export const alarmTable = (watched: Watched): AlarmSpec[] => [
  ...jobs(watched),
  ...locks(watched),
  ...triggerAlarms(watched),
  ...functionAlarms(watched),
  ...databaseAlarms(watched),
]
