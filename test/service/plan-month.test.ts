import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PlanMonthOutput } from '../../functions/contract/messages.ts'
import { monthOf, planMonth } from '../../functions/job/plan-month.ts'
import { putDistributor } from '../../functions/store/distributor.ts'
import { type AwsServer, startAws } from '../../local/servers/aws.ts'
import { useTestDatabase } from '../support/test-database.ts'
import { testRun } from '../support/test-run.ts'

const db = useTestDatabase('plan')
const folder = mkdtempSync(join(tmpdir(), 'sharelock-plan-'))
let aws: AwsServer
let s3: S3Client

const upload = (key: string) => s3.send(new PutObjectCommand({ Bucket: aws.bucket, Key: key, Body: 'x' }))
const add = (code: string, active = true) =>
  putDistributor(db.outside, { code, name: code, active, sumRule: 'at-most', partyScheme: 'opaque' })

beforeAll(async () => {
  aws = await startAws(folder, 'ap-northeast-2', { bucket: 'plan', topic: 'plan', queue: 'plan' })
  s3 = new S3Client({
    region: 'ap-northeast-2',
    endpoint: aws.endpoint,
    forcePathStyle: true,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  })
  await Promise.all([add('ARIA'), add('BALLAD'), add('CANTATA'), add('DUET'), add('ETUDE', false)])
  await Promise.all(
    [
      'incoming/ARIA/2026-10.csv',
      'incoming/BALLAD/2026-10.csv.gz',
      'incoming/CANTATA/2026-10.csv',
      'incoming/CANTATA/2026-10.csv.gz',
      // Neither is DUET's file of the month.
      'incoming/DUET/2026-09.csv',
      'incoming/DUET/2026-10.csv.bak',
      'incoming/ETUDE/2026-10.csv',
    ].map(upload),
  )
})
afterAll(async () => {
  s3.destroy()
  await aws.stop()
  rmSync(folder, { recursive: true, force: true })
})

const plan = (request: Parameters<typeof planMonth>[1]['request'], monthsBack = 1) => {
  const run = testRun(db.connect())
  return planMonth({ ...run, s3, env: { ...run.env, BUCKET: aws.bucket } }, { request, monthsBack })
}

describe('the plan of a month', () => {
  test('starts the active distributors with one file, and names the others with the reason', async () => {
    const planned = await plan({ scheduledAt: '2026-11-09T17:00:00Z' })
    expect(PlanMonthOutput.parse(planned)).toEqual({
      month: '2026-10',
      starts: [
        { distributor: 'ARIA', key: 'incoming/ARIA/2026-10.csv' },
        { distributor: 'BALLAD', key: 'incoming/BALLAD/2026-10.csv.gz' },
      ],
      missing: [
        {
          distributor: 'CANTATA',
          reason: 'two files: incoming/CANTATA/2026-10.csv and incoming/CANTATA/2026-10.csv.gz',
        },
        { distributor: 'DUET', reason: 'no file' },
      ],
      missingCount: 2,
    })
  })

  test('is that of the month an operator names', async () => {
    const { month, starts } = await plan({ month: '2026-09' })
    expect([month, starts]).toEqual(['2026-09', [{ distributor: 'DUET', key: 'incoming/DUET/2026-09.csv' }]])
  })
})

describe('the month of a scheduled time', () => {
  test('is that of the moment in Seoul: 1 March 00:10 there is 28 February in UTC', () => {
    expect(monthOf('2026-02-28T15:10:00Z', 0)).toBe('2026-03')
    expect(monthOf('2026-02-28T14:59:59Z', 0)).toBe('2026-02')
  })

  test("is the same however late the delivery comes: the time is the schedule's", () => {
    // Delivered on time and 20 h late, the input is the same text.
    expect(monthOf('2026-02-28T15:10:00Z', 1)).toBe('2026-02')
  })

  test.each([
    ['2026-11-09T17:00:00Z', 1, '2026-10'],
    ['2026-01-09T17:00:00Z', 1, '2025-12'],
    ['2025-12-31T15:00:00Z', 0, '2026-01'],
    ['2026-03-09T17:00:00Z', 12, '2025-03'],
  ])('%s, %i months back, is %s', (scheduledAt, monthsBack, month) => {
    expect(monthOf(scheduledAt, monthsBack)).toBe(month)
  })
})
