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
  readonly Metrics?: readonly { readonly MetricStat?: unknown }[]
}

let template: Template
let alarms: Alarm[]
beforeAll(() => {
  template = stageTemplates('prod').job
  alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties)
}, 120_000)

const runbook = readFileSync('docs/runbook.md', 'utf8')
/** An alarm that watches more than one expression can hold is several, under one heading. */
const nameOf = ({ AlarmName }: Alarm) => AlarmName.replace('sharelock-prod-', '').replace(/-\d$/, '')
const alarm = (name: string): Alarm => alarms.find((each) => nameOf(each) === name) ?? expect.fail(`no alarm ${name}`)

/** The month, or what all runs need, does not go on without a person. */
const PAGES = [
  ...['database-connections', 'database-storage', 'dispatch-failed', 'events-dropped', 'lock-evictions', 'lock-memory'],
  ...['lock-renew-failing', 'month-overdue', 'outbox-old', 'schedule-dead-letters', 'sweep-silent'],
]

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
    expect(headings.toSorted()).toEqual([...new Set(alarms.map(nameOf))].toSorted())
  })

  test('tell people, when they begin and when they end, and link their heading', () => {
    for (const each of alarms) {
      expect(each, each.AlarmName).toHaveProperty('OKActions', each.AlarmActions)
      expect(each.AlarmDescription).toMatch(
        new RegExp(` https://github\\.com/example/sharelock/blob/main/docs/runbook\\.md#${nameOf(each)}$`),
      )
    }
  })

  test('that can not wait wake somebody besides, and no other does', () => {
    const pages = alarms.filter(({ AlarmActions }) => AlarmActions.length === 2)
    for (const each of alarms) {
      const [told, woken] = each.AlarmActions.map((action) => JSON.stringify(action))
      expect(told, each.AlarmName).toMatch(/MessagingNotices/)
      expect(each.AlarmDescription).toMatch(woken === undefined ? /^Ticket: / : /^Page: /)
      if (woken !== undefined) expect(woken, each.AlarmName).toMatch(/MessagingPages/)
    }
    expect(pages.map(nameOf).toSorted()).toEqual(PAGES)
  })

  test('tell existing topics as well, where the stage names them', () => {
    const guest = stageTemplates(deployed(EXISTING)).job
    for (const { Properties } of Object.values(guest.findResources('AWS::CloudWatch::Alarm'))) {
      const actions = JSON.stringify(Properties.AlarmActions)
      expect(actions).toContain('555555555555:desk')
      expect(actions.includes('555555555555:on-call')).toBe(Properties.AlarmDescription.startsWith('Page: '))
    }
  })

  test('look at no more metrics than CloudWatch takes, and at each function that can be throttled', () => {
    const text = JSON.stringify(template.findResources('AWS::CloudWatch::Alarm'))
    for (const { Metrics = [] } of alarms)
      expect(Metrics.filter(({ MetricStat }) => MetricStat !== undefined).length).toBeLessThanOrEqual(10)
    const functions = Object.keys(template.findResources('AWS::Lambda::Function')).filter((id) => /^Functions/.test(id))
    for (const id of functions) expect(text.split(`"Value":{"Ref":"${id}"}`).length - 1, id).toBeGreaterThanOrEqual(1)
    expect(text.match(/"MetricName":"Throttles"/g)).toHaveLength(functions.length)
  })

  test('cover what the design asks for', () => {
    expect(alarms.map(nameOf).toSorted()).toEqual(
      expect.arrayContaining([
        'database-connections',
        'database-cpu',
        'database-credits',
        'database-latency',
        'database-memory',
        'events-dropped',
        'functions-memory',
        'functions-throttled',
        'job-long',
        'lock-credits',
        'operators-failing',
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
      [...text.matchAll(/'((?:lock|chunk|fence|job|outbox|month|source|memory)(?:\.[a-z]+)+)'/g)].map(
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
