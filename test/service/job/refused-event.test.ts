import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SNSClient } from '@aws-sdk/client-sns'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { EVENT_BYTES_MAX, EVENT_TEXT_CHARS_MAX, OUTBOX_ASIDE_S } from '../../../functions/contract/support-limits.ts'
import type { EventType } from '../../../functions/contract/words.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { publishEvents } from '../../../functions/job/publish-events.ts'
import { sweep } from '../../../functions/job/sweep.ts'
import type { TaskContext } from '../../../functions/job/task.ts'
import { isEventRefused } from '../../../functions/job/topic-answer.ts'
import { writeEvent } from '../../../functions/store/job/outbox.ts'
import { transaction } from '../../../functions/store/mysql/transaction.ts'
import { refusedCheck, unpublishedCheck } from '../../../functions/store/schema/health.ts'
import { type AwsServer, startAws } from '../../../local/servers/aws.ts'
import { Consumer } from '../../support/events.ts'
import { countedBy, opening, testContext } from '../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../support/test-database.ts'

/* One event that a topic answers with no, for ever, beside others that it takes. */

const db = useTestDatabase('refused')
const folder = mkdtempSync(join(tmpdir(), 'sharelock-refused-'))
const REGION = 'ap-northeast-2'
const SWEEP = { registeredByDay: 28, monthsBack: 1 }
let aws: AwsServer
let sns: SNSClient

beforeAll(async () => {
  aws = await startAws(folder, REGION, { bucket: 'bucket', topic: 'events', queue: 'events' })
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  sns = new SNSClient({ region: REGION, endpoint: aws.endpoint, credentials, maxAttempts: 1 })
})
beforeEach(() => db.outside.change('update outbox set published_at = current_timestamp(6) where published_at is null'))
afterAll(async () => {
  sns.destroy()
  await aws.stop()
  rmSync(folder, { recursive: true, force: true })
})

const run = (): TaskContext => {
  const plain = testContext(db.connect())
  return { ...plain, sns, env: { ...plain.env, TOPIC_ARN: aws.topicArn } }
}
const newJob = async (): Promise<number> => {
  const slice = await newSlice(db.outside)
  return (await openJob(testContext(db.connect()), opening(slice, `${slice.distributor}/1`, null))).id
}
/** As a release wrote it that did not cut its texts yet. */
const writeTooLong = (job: number) =>
  db.outside.change(`insert into outbox (event_id, job_id, type, payload) values (uuid(), ?, 'JobHalted', ?)`, [
    job,
    JSON.stringify({ cause: 'c'.repeat(EVENT_BYTES_MAX) }),
  ])
const outboxOf = (job: number) =>
  db.outside.rows<{ type: string; isPublished: number; attempts: number; isAside: number }>(
    `select type, published_at is not null as isPublished, attempts, set_aside_until is not null as isAside
     from outbox where job_id = ? order by id`,
    [job],
  )
/** Writes an event as a transition does. */
const write = (job: number, type: EventType, payload: Record<string, unknown>) =>
  transaction(db.outside, (tx) => writeEvent(tx, job, type, payload))

const received = async () => {
  const consumer = new Consumer(aws)
  await consumer.drain()
  return consumer.deliveries.map(({ type, job }) => `${type} ${job}`)
}

describe('an event that the topic refuses', () => {
  test('is set aside, and events of its own job and of others behind it are published', async () => {
    const [first, second] = [await newJob(), await newJob()]
    await writeTooLong(first)
    await write(first, 'JobRegistered', { job: first })
    await write(second, 'JobHalted', { job: second })
    const by = run()
    const warned = vi.spyOn(by.logger, 'warn')
    expect(await publishEvents(by)).toEqual({ published: 2, refused: 1, pending: 0 })
    expect(await received()).toEqual([`JobRegistered ${first}`, `JobHalted ${second}`])
    expect(await outboxOf(first)).toEqual([
      { type: 'JobHalted', isPublished: 0, attempts: 1, isAside: 1 },
      { type: 'JobRegistered', isPublished: 1, attempts: 0, isAside: 0 },
    ])
    expect(warned.mock.calls).toEqual([
      [expect.stringContaining('outbox-refused'), expect.objectContaining({ eventJob: first, eventType: 'JobHalted' })],
    ])
  })

  test('is not asked for again before its time, and then once, and is published once it can be', async () => {
    const job = await newJob()
    await writeTooLong(job)
    expect(await publishEvents(run(), job)).toMatchObject({ refused: 1 })
    expect(await publishEvents(run(), job)).toEqual({ published: 0, refused: 0, pending: 0 })
    const due = () =>
      db.outside.change('update outbox set set_aside_until = current_timestamp(6) where job_id = ?', [job])
    await due()
    expect(await publishEvents(run(), job)).toMatchObject({ refused: 1 })
    expect(await outboxOf(job)).toMatchObject([{ attempts: 2, isAside: 1 }])
    await db.outside.change('update outbox set payload = ? where job_id = ?', [JSON.stringify({ job }), job])
    await due()
    expect(await publishEvents(run(), job)).toEqual({ published: 1, refused: 0, pending: 0 })
    expect(await received()).toEqual([`JobHalted ${job}`])
    expect(await refusedCheck(db.outside)).toEqual([])
  })

  test('is named to operators with its job, its slice, what the topic said and when it is tried again', async () => {
    const job = await newJob()
    await writeTooLong(job)
    await publishEvents(run())
    const [refused, ...others] = await refusedCheck(db.outside)
    expect(others).toEqual([])
    expect(refused).toMatchObject({ job, type: 'JobHalted', month: '2026-10', attempts: 1 })
    expect(refused?.error).toMatch(/InvalidParameter.*too long/i)
    const waitS = (Date.parse(refused?.nextTryAt ?? '') - Date.now()) / 1_000
    expect(waitS).toBeGreaterThan(OUTBOX_ASIDE_S / 2)
    expect(waitS).toBeLessThanOrEqual(OUTBOX_ASIDE_S + 5)
    // Those that only wait are another matter, and the refused one does not hide them.
    expect(await unpublishedCheck(db.outside)).toEqual({ events: 0, oldestS: null })
  })

  test('is counted for its own alarm, and the age of the outbox is that of the events that wait', async () => {
    const job = await newJob()
    await writeTooLong(job)
    await db.outside.change('update outbox set created_at = current_timestamp(6) - interval 1 day where job_id = ?', [
      job,
    ])
    const by = run()
    const counted = countedBy(by)
    expect(await sweep(by, SWEEP)).toMatchObject({ published: 0, refused: 1, pending: 0 })
    expect(Object.fromEntries(counted)).toMatchObject({ 'outbox.refused': 1, 'outbox.age': 0 })
  })

  test('does not end a sweep where there are a batch of them', async () => {
    const job = await newJob()
    for (let count = 0; count < 101; count += 1) await writeTooLong(job)
    await write(job, 'JobRegistered', { job })
    expect(await sweep(run(), SWEEP)).toMatchObject({ published: 1, refused: 101 })
    expect(await received()).toEqual([`JobRegistered ${job}`])
  })
})

describe('a topic that takes nothing', () => {
  test('is not each event’s own fault: none is set aside', async () => {
    const job = await newJob()
    for (const type of ['JobHalted', 'JobRegistered'] as const) await write(job, type, { job })
    const by = { ...run(), env: { ...run().env, TOPIC_ARN: `${aws.topicArn}-gone` } }
    expect(await publishEvents(by, job)).toMatchObject({ published: 0, refused: 0, pending: 2 })
    expect(await outboxOf(job)).toMatchObject([
      { attempts: 0, isAside: 0 },
      { attempts: 0, isAside: 0 },
    ])
    expect(await publishEvents(run(), job)).toEqual({ published: 2, refused: 0, pending: 0 })
  })

  const answered = (name: string, httpStatusCode?: number) =>
    Object.assign(new Error('no'), { name, $metadata: { httpStatusCode } })
  test.each([
    ['InvalidParameter', 400, true],
    ['ValidationException', 400, true],
    ['WhateverIsNew', 413, true],
    ['AuthorizationError', 403, false],
    ['NotFound', 404, false],
    ['KMSDisabled', 400, false],
    ['Throttling', 400, false],
    ['Throttled', 429, false],
    ['InternalError', 500, false],
    ['TimeoutError', undefined, false],
  ])('%s with %s is the event’s own: %s', (name, status, isOwn) => {
    expect(isEventRefused(answered(name, status))).toBe(isOwn)
  })
})

describe('an event as it is written', () => {
  test('fits into one message, whatever its texts are', async () => {
    const job = await newJob()
    const long = '\u{1f4a5}\u0001"'.repeat(EVENT_BYTES_MAX)
    const payload = { distributor: long, month: long, execution: long, error: long, cause: long, state: long }
    await write(job, 'JobHalted', { ...payload, job, fence: 1 })
    expect(await publishEvents(run(), job)).toEqual({ published: 1, refused: 0, pending: 0 })
    const [row] = await db.outside.rows<{ payload: { cause: string } }>('select payload from outbox where job_id = ?', [
      job,
    ])
    expect(row?.payload.cause).toHaveLength(EVENT_TEXT_CHARS_MAX)
    expect(row?.payload.cause.isWellFormed()).toBe(true)
  })
})
