import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { PlanMonthOutput } from '../../../functions/contract/month-messages.ts'
import { planMonth } from '../../../functions/job/plan-month.ts'
import { listObjects } from '../../../functions/store/s3/objects.ts'
import { writeWarned } from '../../../functions/store/warned.ts'
import { s3ClientOf, useBucket } from '../../support/bucket.ts'
import { testContext } from '../../support/test-context.ts'
import { addDistributor, useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('plan')
const BUCKET = 'plan'
const { s3, put } = useBucket(BUCKET)
const FIRST = expect.stringMatching(/^scheduled-[0-9a-f]{12}$/)

const add = (code: string, active = true) => addDistributor(db.outside, code, active)

beforeAll(async () => {
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
      // A month in parts: the descriptor is its file.
      'incoming/BALLAD/2026-07.parts.json',
      'incoming/BALLAD/2026-07.1.csv',
      // What distributors with a profile send.
      'incoming/ARIA/2026-06.xlsx',
      'incoming/BALLAD/2026-06.txt',
      'incoming/CANTATA/2026-06.zip',
      'incoming/DUET/2026-06.xls',
    ].map((key) => put(key, 'x')),
  )
})

const plan = (request: Parameters<typeof planMonth>[1]['request'], monthsBack = 1, client = s3()) => {
  const run = testContext(db.connect())
  return planMonth({ ...run, s3: client, env: { ...run.env, BUCKET } }, { request, monthsBack })
}

describe('the plan of a month', () => {
  test('starts the active distributors with one file, and names the others with the reason', async () => {
    const planned = await plan({ scheduledAt: '2026-11-09T17:00:00Z' })
    expect(PlanMonthOutput.parse(planned)).toEqual({
      month: '2026-10',
      starts: [
        { distributor: 'ARIA', ending: 'csv', run: FIRST, head: null },
        { distributor: 'BALLAD', ending: 'csv.gz', run: FIRST, head: null },
      ],
      already: [],
      left: [],
      leftCount: 0,
      warned: [],
      warnedCount: 0,
      missing: [
        {
          distributor: 'CANTATA',
          reason: 'two files: 2026-10.csv and 2026-10.csv.gz',
        },
        { distributor: 'DUET', reason: 'no file' },
      ],
      missingCount: 2,
    })
  })

  test('takes a descriptor of parts for the file of the month', async () => {
    const { starts } = await plan({ month: '2026-07' })
    expect(starts).toEqual([{ distributor: 'BALLAD', ending: 'parts.json', run: FIRST, head: null }])
  })

  test('takes a workbook, a text and a zip archive for the file of the month', async () => {
    const { starts, missing } = await plan({ month: '2026-06' })
    expect(starts.map(({ ending }) => ending)).toEqual(['xlsx', 'txt', 'zip'])
    expect(missing).toEqual([{ distributor: 'DUET', reason: 'no file' }])
  })

  test('is that of the month an operator names', async () => {
    const { month, starts } = await plan({ month: '2026-09' })
    expect([month, starts]).toMatchObject(['2026-09', [{ distributor: 'DUET', ending: 'csv' }]])
  })
})

test('a delivery that was refused for its warnings waits for a person; another delivery of it is started', async () => {
  const [month, distributor] = ['2026-08', 'ARIA']
  const key = `incoming/${distributor}/${month}.csv`
  await put(key, 'first')
  const [object] = await listObjects(s3(), BUCKET, key)
  const [row] = await db.outside.rows<{ id: number }>('select id from distributor where code = ?', [distributor])
  const warnings = [{ name: 'fractions', count: 1_600 } as const]
  const refused = { key, etag: object?.etag ?? '', digest: 'ab'.repeat(32), execution: 'run', warnings }
  await writeWarned(db.outside, { distributorId: row?.id ?? 0, distributor, month }, refused)
  expect(await plan({ month })).toMatchObject({
    starts: [],
    warned: [{ distributor, reason: `warnings of ${key}: fractions (1,600)` }],
    warnedCount: 1,
  })
  await put(key, 'second')
  expect(await plan({ month })).toMatchObject({ starts: [{ distributor }], warned: [], warnedCount: 0 })
})

describe('an S3 that is busy or away', () => {
  test.each([
    ['SlowDown', 503],
    ['InternalError', 500],
  ])('answering %s is named, so that the month is planned again', async (code, status) => {
    const busy = createServer((_, answer) => {
      answer.writeHead(status, { 'content-type': 'application/xml' })
      answer.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>please reduce your rate</Message></Error>`)
    })
    await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve))
    const { port } = busy.address() as AddressInfo
    await expect(plan({ month: '2026-10' }, 1, s3ClientOf(port))).rejects.toMatchObject({
      name: 'StorageUnreachable',
    })
    busy.close()
  })

  test('and one that does not listen at all is named too', async () => {
    const nobody = s3ClientOf(1)
    await expect(plan({ month: '2026-10' }, 1, nobody)).rejects.toMatchObject({ name: 'StorageUnreachable' })
  })
})
