import { describe, expect, test } from 'vitest'
import { SOURCE_ROWS_MAX, sourceRowsMax } from '../../../functions/contract/source-limits.ts'
import { TASKS } from '../../../functions/contract/tasks.ts'
import { readConfig } from '../../../infra/config/config.ts'
import { CONNECTIONS_SHARE_MAX, concurrencyNeeded, connectionBudget } from '../../../infra/config/connections.ts'
import { pipelineConfig, STAGE_NAMES, stageConfig } from '../../../infra/config/stages.ts'
import { quietWindows } from '../../../infra/config/windows.ts'
import { runCost } from '../../../infra/scale/scale.ts'
import { deployed, EXISTING } from '../existing.ts'
import { stageTemplates } from '../synth.ts'

describe('the stages', () => {
  test.each(STAGE_NAMES)('%s is a valid configuration', (stage) => {
    expect(stageConfig(stage).stage).toBe(stage)
  })

  test('have account ids that nobody owns', () => {
    const accounts = STAGE_NAMES.map(stageConfig).flatMap((config) => (config.kind === 'aws' ? [config.account] : []))
    for (const account of [...accounts, pipelineConfig().account]) expect(account).toMatch(/^(\d)\1{11}$/)
  })
})

describe('a wrong value stops synthesis with a sentence', () => {
  const { network, database, lock, schedule } = EXISTING
  test.each([
    ['an account of 11 digits', { account: '12345678901' }, /an account id of 12 digits/],
    ['a day that not every month has', { schedule: { ...schedule, day: 31 } }, /a later one does not come every month/],
    ['an unknown field', { lane: 4 }, /Unrecognized key: "lane"/],
    [
      'subnets without their route tables',
      { network: { ...network, routeTableIds: ['rtb-0123456789abcdef0'] } },
      /belong together/,
    ],
    ['a zone elsewhere', { network: { ...network, zones: ['us-east-1a', 'us-east-1b'] } }, /is not in ap-northeast-2/],
    [
      'an identifier instead of a resource id',
      { database: { ...database, resourceId: 'settlement' } },
      /a resource id such as db-/,
    ],
    [
      'an address instead of a host name',
      { lock: { ...lock, endpoint: '10.0.0.1' } },
      /a host name, as the server's certificate has it/,
    ],
    ['a log retention that CloudWatch does not know', { logRetentionDays: 15 }, /logRetentionDays/],
    ['a stage with blanks', { stage: 'my stage' }, /2-20 of a-z, 0-9 and -/],
    [
      'stores that the network does not reach',
      { network: { kind: 'new', cidr: '10.1.0.0/22', zones: ['ap-northeast-2a', 'ap-northeast-2c'] } },
      /give the existing network/,
    ],
    [
      'too many lanes for the connections',
      { database: { ...database, maxConnections: 100 } },
      /raise maxConnections to \d+ or turn lanes/,
    ],
  ])('%s', (_, change, message) => {
    const values = { ...EXISTING, ...change } as unknown as typeof EXISTING
    expect(() => readConfig(values)).toThrow(message)
    expect(() => readConfig(values)).toThrow(/The configuration of the stage ".*" is wrong/)
  })
})

describe('an endpoint that a run could not use stops synthesis too', () => {
  test.each([
    ['guest.proxy-abcdefghijkl', /behind an RDS Proxy a statement that hangs/],
    ['guest.cluster-abcdefghijkl', /not a cluster's/],
    ['guest.cluster-ro-abcdefghijkl', /not a cluster's/],
  ])('of MySQL: %s', (name, sentence) => {
    const endpoint = `${name}.ap-northeast-2.rds.amazonaws.com`
    expect(() => readConfig({ ...EXISTING, database: { ...EXISTING.database, endpoint } })).toThrow(sentence)
  })

  test.each([
    ['locks-abcdef.serverless', /cluster mode disabled/],
    ['clustercfg.locks.abcdef', /cluster mode disabled/],
    ['replica.locks.abcdef', /a replica takes no lock/],
  ])('of Valkey: %s', (name, sentence) => {
    const endpoint = `${name}.apn2.cache.amazonaws.com`
    expect(() => readConfig({ ...EXISTING, lock: { ...EXISTING.lock, endpoint } })).toThrow(sentence)
  })
})

describe('the budget of connections', () => {
  test('holds more than the lanes of all parallel jobs', () => {
    const { lanes, jobsMax } = deployed(EXISTING)
    expect(connectionBudget({ lanes, jobsMax })).toBeGreaterThan(lanes * jobsMax)
  })

  test('counts each task that connects, lanes for those of a Map, for two deployments', () => {
    const connecting = Object.values(TASKS).filter(({ database }) => database).length
    // Two tasks have lanes; ten connections more are PlanMonth's, Sweep's, the migrator's, a killer's, and six for operators.
    expect(connectionBudget({ lanes: 3, jobsMax: 5 })).toBe(2 * (5 * (connecting - 2 + 2 * 3) + 10))
  })

  test.each(STAGE_NAMES.filter((stage) => stage !== 'local'))(
    'of %s stays within 70 %% of max_connections',
    (stage) => {
      const config = stageConfig(stage)
      if (config.kind === 'local') return
      expect(connectionBudget(config)).toBeLessThanOrEqual(CONNECTIONS_SHARE_MAX * config.database.maxConnections)
      expect(config.database.maxConnections).toBeGreaterThanOrEqual((config.lanes * config.jobsMax) / 0.7)
    },
  )
})

describe('what an account has to have', () => {
  test('is the sum of what is reserved and the 100 that never are, or what runs at once', () => {
    const scale = { lanes: 2, jobsMax: 4 }
    const functions = Object.values(stageTemplates('staging').job.findResources('AWS::Lambda::Function'))
    const reserved = functions.reduce((sum, { Properties }) => sum + (Properties.ReservedConcurrentExecutions ?? 0), 0)
    expect(concurrencyNeeded({ ...scale, reservedConcurrency: true })).toBe(reserved + 100)
    expect(concurrencyNeeded({ ...scale, reservedConcurrency: false })).toBeLessThan(50)
  })

  test.each(STAGE_NAMES.filter((stage) => stage !== 'local'))(
    "of memory bounds a file's rows in %s before it ends the process",
    (stage) => {
      const { sourceMemoryMb } = stageConfig(stage)
      const { stagingMb } = runCost(sourceRowsMax(sourceMemoryMb), 2)
      expect(stagingMb).toBeLessThan(0.75 * sourceMemoryMb)
      const [source] = Object.values(
        stageTemplates(stage).job.findResources('AWS::Lambda::Function', {
          Properties: { Description: `Sharelock ${stage}: StageSource` },
        }),
      )
      expect(source?.Properties.MemorySize).toBe(sourceMemoryMb)
    },
  )

  test('the memory of a young account takes a file of ten million rows', () => {
    expect(sourceRowsMax(3_008)).toBeGreaterThan(10_000_000)
    expect(sourceRowsMax(TASKS.StageSource.memoryMb)).toBe(SOURCE_ROWS_MAX)
  })
})

describe('the windows of AWS', () => {
  test.each(Array.from({ length: 24 }, (_, hour) => hour))('are far from a dispatch at %i:00 in Seoul', (hour) => {
    const { backup, maintenance } = quietWindows({ hour })
    for (const window of [backup, maintenance]) {
      const startUtc = Number(/(\d\d):00-/.exec(window)?.[1])
      const apart = Math.abs(((startUtc + 9) % 24) - hour)
      expect(Math.min(apart, 24 - apart)).toBeGreaterThanOrEqual(11)
    }
    expect(maintenance).toMatch(/^sun:\d\d:00-(sun:(?!00)\d\d|mon:00):00$/)
  })
})
