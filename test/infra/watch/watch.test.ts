import { readdirSync, readFileSync } from 'node:fs'
import type { Template } from 'aws-cdk-lib/assertions'
import { beforeAll, describe, expect, test } from 'vitest'
import { EXECUTION_TIMEOUT_S, LOCK_TTL_MS, TASK_MARGIN_S } from '../../../functions/contract/limits.ts'
import { METRIC_NAMESPACE, METRICS } from '../../../functions/contract/metrics.ts'
import { SWEEP_QUIET_S } from '../../../functions/contract/support-limits.ts'
import { SUPPORT, TASKS, type TaskName } from '../../../functions/contract/tasks.ts'
import { Sandbox } from '../../../functions/job/services.ts'
import { delayS, ORDINARY, type RetryPolicy, WAIT_FOR_TAKEN_LOCK } from '../../../infra/machine/retries.ts'
import { deployed, EXISTING } from '../existing.ts'
import { stageTemplates } from '../synth.ts'

type Alarm = {
  readonly AlarmName: string
  readonly AlarmDescription: string
  readonly AlarmActions: readonly unknown[]
  readonly TreatMissingData: string
  readonly Threshold: number
}

let template: Template
let alarms: Alarm[]
beforeAll(() => {
  template = stageTemplates('prod').job
  alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties)
}, 120_000)

const runbook = readFileSync('docs/runbook.md', 'utf8')
const nameOf = ({ AlarmName }: Alarm) => AlarmName.replace('sharelock-prod-', '')
const alarm = (name: string): Alarm => alarms.find((each) => nameOf(each) === name) ?? expect.fail(`no alarm ${name}`)

describe('the alarms', () => {
  test('each have a heading in the runbook: what it means, how to look, how to resolve', () => {
    for (const each of alarms) {
      const section = runbook.split(/^### /m).find((text) => text.startsWith(`${nameOf(each)}\n`))
      expect(section, nameOf(each)).toBeDefined()
      for (const part of ['**Means**', '**Look**', '**Resolve**']) expect(section, nameOf(each)).toContain(part)
    }
  })

  test('and the runbook has none that no alarm leads to', () => {
    const headings = [...runbook.matchAll(/^### ([a-z-]+)$/gm)].map((match) => match[1])
    expect(headings.toSorted()).toEqual(alarms.map(nameOf).toSorted())
  })

  test('tell people, when they begin and when they end, and say where the runbook is', () => {
    for (const each of alarms) {
      expect(each.AlarmActions, each.AlarmName).toHaveLength(1)
      expect(each, each.AlarmName).toHaveProperty('OKActions')
      expect(each.AlarmDescription).toContain(`docs/runbook.md, ${nameOf(each)}`)
    }
  })

  test('tell an existing topic as well, where the stage names one', () => {
    const guest = stageTemplates(deployed(EXISTING)).job
    for (const { Properties } of Object.values(guest.findResources('AWS::CloudWatch::Alarm')))
      expect(JSON.stringify(Properties.AlarmActions)).toContain('555555555555:on-call')
  })

  test('cover what the design asks for', () => {
    expect(alarms.map(nameOf).toSorted()).toEqual(
      expect.arrayContaining([
        'database-connections',
        'database-cpu',
        'database-storage',
        'fence-rejected',
        'job-halted',
        'lock-evictions',
        'lock-near-ttl',
        'lock-unlock-failed',
        'month-overdue',
        'outbox-old',
        'schedule-dead-letters',
      ]),
    )
  })

  test('fit the numbers: an old lock is at three quarters of its life, a full database 80 % of its connections', () => {
    expect(alarm('lock-near-ttl').Threshold).toBe(0.75 * LOCK_TTL_MS)
    expect(alarm('database-connections').Threshold).toBe(480)
    expect(alarm('outbox-old').Threshold).toBe(15 * 60)
  })

  test("take silence for health, except the sweeper's own", () => {
    for (const each of alarms)
      expect(each.TreatMissingData, each.AlarmName).toBe(nameOf(each) === 'sweep-silent' ? 'breaching' : 'notBreaching')
  })
})

describe('the metrics', () => {
  const sources = readdirSync('functions', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('contract/'))
    .map((file) => readFileSync(`functions/${file}`, 'utf8'))
  const emitted = new Set(
    sources.flatMap((text) =>
      [...text.matchAll(/'((?:lock|chunk|fence|job|outbox|month|source)(?:\.[a-z]+)+)'/g)].map(
        (match) => match[1] ?? '',
      ),
    ),
  )

  test('that the code emits are those of the table', () => {
    expect([...emitted].toSorted()).toEqual(Object.keys(METRICS).toSorted())
  })

  test('that alarms and dashboard look at are those of the table', () => {
    const text = JSON.stringify(template.toJSON())
    const graphed = [...text.matchAll(/\\"Sharelock\\",\\"([\w.]+)\\"/g)].map((match) => match[1] ?? '')
    const alarmed = [...text.matchAll(/"MetricName":"([\w.]+)","Namespace":"Sharelock"/g)].map(
      (match) => match[1] ?? '',
    )
    for (const name of [...graphed, ...alarmed]) expect(METRICS).toHaveProperty([name])
    expect(graphed.length).toBeGreaterThan(10)
    expect(alarmed.length).toBeGreaterThan(5)
  })

  test('are written with one dimension, the stage, which alarms and dashboard ask for', () => {
    const stores = { BUCKET: 'b', DATABASE_HOST: 'h', DATABASE_USER: 'u', LOCK_HOST: 'l' }
    const { metrics } = new Sandbox('HaltJob', { STAGE: 'prod', ...stores }).begin().services
    metrics.addMetric('job.halted', 'Count', 1)
    const line = metrics.serializeMetrics()
    expect(line._aws.CloudWatchMetrics).toMatchObject([{ Namespace: METRIC_NAMESPACE, Dimensions: [['stage']] }])
    expect(line.stage).toBe('prod')
  })
})

describe('the sweeper', () => {
  const sum = (values: number[]): number => values.reduce((total, each) => total + each, 0)
  const delaysS = (policy: RetryPolicy): number =>
    sum(Array.from({ length: policy.retriesMax }, (_, index) => delayS(policy, index + 1)))
  /** The longest a task can take: every attempt until its clock ends it, crashes included, and every delay. */
  const longestS = (task: TaskName, policies: readonly RetryPolicy[] = ORDINARY): number =>
    sum(policies.map(delaysS)) +
    (1 + sum(policies.map(({ retriesMax }) => retriesMax))) * (TASKS[task].lambdaTimeoutS + TASK_MARGIN_S)

  /** What a run that is alive may do between two signs of progress, the first task's last mark behind it. */
  const BETWEEN_MARKS: readonly (readonly TaskName[])[] = [
    ['OpenJob', 'PlanDelete', 'DeleteChunk'],
    ['DeleteChunk', 'MarkDeleted', 'PlanDelete', 'DeleteChunk'],
    ['MarkDeleted', 'BeginRegistering'],
    ['BeginRegistering', 'RegisterChunk'],
    ['RegisterChunk', 'MarkRegistered'],
  ]

  test('halts only what no execution can still be working on', () => {
    const chainsS = BETWEEN_MARKS.map((tasks) => sum(tasks.map((task) => longestS(task))))
    // A run that lost its lock first waits for the key, then opens its job anew, which is progress.
    const reacquireS = longestS('RegisterChunk') + longestS('AcquireLock', [WAIT_FOR_TAKEN_LOCK, ...ORDINARY])
    const longestChainS = Math.max(...chainsS, reacquireS + longestS('OpenJob'))
    expect(longestChainS).toBeGreaterThan(5 * 3_600)
    expect(SWEEP_QUIET_S).toBeGreaterThan(Math.min(longestChainS, EXECUTION_TIMEOUT_S) + LOCK_TTL_MS / 1_000)
  })

  test('has an hour for a clock that jumps', () => {
    expect(SWEEP_QUIET_S - EXECUTION_TIMEOUT_S).toBeGreaterThanOrEqual(3_600)
  })

  test('ends before the next one begins', () => {
    expect(SUPPORT.Sweep.lambdaTimeoutS).toBeLessThan(5 * 60)
  })
})
