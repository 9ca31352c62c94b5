import { readdirSync, readFileSync } from 'node:fs'
import type { Template } from 'aws-cdk-lib/assertions'
import { beforeAll, describe, expect, it } from 'vitest'
import { LOCK_TTL_MS, SWEEP_QUIET_S } from '../../functions/contract/limits.ts'
import { METRIC_NAMESPACE, METRICS } from '../../functions/contract/metrics.ts'
import { SUPPORT } from '../../functions/contract/tasks.ts'
import { Sandbox } from '../../functions/job/services.ts'
import { delayS, LAMBDA_OUTAGE, LOCK_OUTAGE, STORE_OUTAGE } from '../../infra/machine/retries.ts'
import { deployed, EXISTING } from './existing.ts'
import { stageTemplates } from './synth.ts'

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
  it('each have a heading in the runbook: what it means, how to look, how to resolve', () => {
    for (const each of alarms) {
      const section = runbook.split(/^### /m).find((text) => text.startsWith(`${nameOf(each)}\n`))
      expect(section, nameOf(each)).toBeDefined()
      for (const part of ['**Means**', '**Look**', '**Resolve**']) expect(section, nameOf(each)).toContain(part)
    }
  })

  it('and the runbook has none that no alarm leads to', () => {
    const headings = [...runbook.matchAll(/^### ([a-z-]+)$/gm)].map((match) => match[1])
    expect(headings.toSorted()).toEqual(alarms.map(nameOf).toSorted())
  })

  it('tell people, when they begin and when they end, and say where the runbook is', () => {
    for (const each of alarms) {
      expect(each.AlarmActions, each.AlarmName).toHaveLength(1)
      expect(each, each.AlarmName).toHaveProperty('OKActions')
      expect(each.AlarmDescription).toContain(`docs/runbook.md, ${nameOf(each)}`)
    }
  })

  it('tell an existing topic as well, where the stage names one', () => {
    const guest = stageTemplates(deployed(EXISTING)).job
    for (const { Properties } of Object.values(guest.findResources('AWS::CloudWatch::Alarm')))
      expect(JSON.stringify(Properties.AlarmActions)).toContain('555555555555:on-call')
  })

  it('cover what the design asks for', () => {
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

  it('fit the numbers: an old lock is at three quarters of its life, a full database 80 % of its connections', () => {
    expect(alarm('lock-near-ttl').Threshold).toBe(0.75 * LOCK_TTL_MS)
    expect(alarm('database-connections').Threshold).toBe(480)
    expect(alarm('outbox-old').Threshold).toBe(15 * 60)
  })

  it("take silence for health, except the sweeper's own", () => {
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
      [...text.matchAll(/'((?:lock|chunk|fence|job|outbox|month)(?:\.[a-z]+)+)'/g)].map((match) => match[1] ?? ''),
    ),
  )

  it('that the code emits are those of the table', () => {
    expect([...emitted].toSorted()).toEqual(Object.keys(METRICS).toSorted())
  })

  it('that alarms and dashboard look at are those of the table', () => {
    const text = JSON.stringify(template.toJSON())
    const graphed = [...text.matchAll(/\\"Sharelock\\",\\"([\w.]+)\\"/g)].map((match) => match[1] ?? '')
    const alarmed = [...text.matchAll(/"MetricName":"([\w.]+)","Namespace":"Sharelock"/g)].map(
      (match) => match[1] ?? '',
    )
    for (const name of [...graphed, ...alarmed]) expect(METRICS).toHaveProperty([name])
    expect(graphed.length).toBeGreaterThan(10)
    expect(alarmed.length).toBeGreaterThan(5)
  })

  it('are written with one dimension, the stage, which alarms and dashboard ask for', () => {
    const stores = { BUCKET: 'b', DATABASE_HOST: 'h', DATABASE_USER: 'u', LOCK_HOST: 'l' }
    const { metrics } = new Sandbox('HaltJob', { STAGE: 'prod', ...stores }).begin().services
    metrics.addMetric('job.halted', 'Count', 1)
    const line = metrics.serializeMetrics()
    expect(line._aws.CloudWatchMetrics).toMatchObject([{ Namespace: METRIC_NAMESPACE, Dimensions: [['stage']] }])
    expect(line.stage).toBe('prod')
  })
})

describe('the sweeper', () => {
  it('halts only what no retry can still be working on', () => {
    const totalS = [LOCK_OUTAGE, STORE_OUTAGE, LAMBDA_OUTAGE]
      .flatMap((policy) => Array.from({ length: policy.retriesMax }, (_, index) => delayS(policy, index + 1)))
      .reduce((sum, each) => sum + each, 0)
    expect(SWEEP_QUIET_S).toBeGreaterThan(totalS + LOCK_TTL_MS / 1_000)
  })

  it('ends before the next one begins', () => {
    expect(SUPPORT.Sweep.lambdaTimeoutS).toBeLessThan(5 * 60)
  })
})
