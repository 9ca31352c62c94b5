import { describe, expect, test, vi } from 'vitest'
import { haltFromCatch } from '../../../functions/job/halt-job.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { publishEvents } from '../../../functions/job/publish-events.ts'
import { Database } from '../../../functions/store/mysql/database.ts'
import { DatabaseRelay } from '../../support/relay.ts'
import { countedBy, opening, testContext } from '../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('told')
const run = () => testContext(db.connect())

type Failure = Parameters<typeof haltFromCatch>[1]['failure']
const DIFFERS: Failure = { Error: 'ChunkMismatch', Cause: JSON.stringify({ errorMessage: 'chunk 3 differs' }) }

/** A job that its run halted for this failure. */
const halted = async (failure = DIFFERS) => {
  const slice = await newSlice(db.outside)
  const job = await openJob(run(), opening(slice, 'a/1', null))
  const lock = { token: 'a/1', held: false }
  await haltFromCatch(run(), { execution: 'arn:execution:a', slice, lock, job, failure })
  return { slice, job }
}

describe('the halt that a person reads', () => {
  const haltOf = async (failure: Failure) => {
    const { job } = await halted(failure)
    const [row] = await db.outside.rows<{ error: string; cause: string }>(
      'select halt_error as error, halt_cause as cause from job where id = ?',
      [job.id],
    )
    return row
  }

  test.each([
    ['a message in JSON', JSON.stringify({ errorMessage: 'chunk 3 differs' }), 'chunk 3 differs'],
    ['JSON without a message', '{"trace":[]}', '{"trace":[]}'],
    ['plain text', 'the task timed out', 'the task timed out'],
    ['nothing', undefined, ''],
  ])('says %s in words', async (_, Cause, cause) => {
    expect(await haltOf({ Error: 'States.Timeout', Cause })).toEqual({ error: 'States.Timeout', cause })
  })

  test('is cut to what its columns hold, and ends in an ellipsis, rather than refused', async () => {
    const row = await haltOf({ Error: 'E'.repeat(300), Cause: 'c'.repeat(5_000) })
    expect([row?.error, row?.cause]).toEqual([`${'E'.repeat(99)}…`, `${'c'.repeat(1_999)}…`])
  })

  test('is told to subscribers with its job, the new fence, and why; those of one job only', async () => {
    const { slice, job } = await halted()
    await halted()
    const sent: unknown[] = []
    const by = run()
    vi.spyOn(by.sns, 'send').mockImplementation(async (command: { input: object }) => sent.push(command.input))
    expect(await publishEvents(by, job.id)).toEqual({ published: 1, refused: 0, pending: 0 })
    expect(await publishEvents(by, job.id)).toEqual({ published: 0, refused: 0, pending: 0 })
    const [{ id, at }] = (await db.outside.rows<{ id: string; at: string }>(
      'select event_id as id, created_at as at from outbox where job_id = ?',
      [job.id],
    )) as [{ id: string; at: string }]
    const { Message, MessageAttributes } = sent[0] as { Message: string; MessageAttributes: object }
    expect(JSON.parse(Message)).toEqual({
      id,
      at,
      type: 'JobHalted',
      distributor: slice.distributor,
      month: slice.month,
      execution: 'arn:execution:a',
      job: job.id,
      state: 'DELETING',
      fence: 2,
      error: 'ChunkMismatch',
      cause: 'chunk 3 differs',
      remedy: `Another program wrote to the slice; stop it, then start over: sharelock start --distributor ${slice.distributor} --month ${slice.month} --file FILE --supersede --force`,
    })
    expect(MessageAttributes).toEqual({
      id: { DataType: 'String', StringValue: id },
      type: { DataType: 'String', StringValue: 'JobHalted' },
    })
  })
})

describe('a halt whose connection is lost', () => {
  test('while it asks how long the lock was held is halted all the same: nothing is asked behind its commit', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    const relay = await DatabaseRelay.start()
    relay.target = { host: db.address.DATABASE_HOST, port: db.address.DATABASE_PORT }
    relay.ownerOf = () => ({ pid: process.pid, task: 'HaltJob' })
    const cut = relay.arm({ task: 'HaltJob', sql: /timestampdiff/, moment: 'before', act: (at) => at.cut() })
    const by = testContext(new Database({ ...db.address, DATABASE_HOST: '127.0.0.1', DATABASE_PORT: relay.port }))
    const counted = countedBy(by)
    const lock = { token: 'a/1', held: false }
    const report = await haltFromCatch(by, { execution: 'arn:execution:a', slice, lock, job, failure: DIFFERS })
    await relay.stop()
    expect(cut.hits()).toBe(1)
    expect(report).toMatchObject({ halted: true, job: job.id })
    expect(counted.map(([name]) => name)).toEqual(['job.halted', 'lock.hold.duration'])
    expect(relay.statements.at(-1)?.sql).toBe('commit')
    expect(await db.outside.rows('select halt_error as error, fence from job where id = ?', [job.id])).toEqual([
      { error: 'ChunkMismatch', fence: 2 },
    ])
  })
})

describe('a topic that refuses', () => {
  test('keeps what it did not take in the outbox, in order, and the report says how much and why', async () => {
    const { job } = await halted()
    await db.outside.change(
      `insert into outbox (event_id, job_id, type, payload) select uuid(), job_id, type, payload from outbox where job_id = ?`,
      [job.id],
    )
    const by = run()
    const warned = vi.spyOn(by.logger, 'warn')
    let sent = 0
    vi.spyOn(by.sns, 'send').mockImplementation(async () => {
      sent += 1
      if (sent === 2) throw new Error('the topic is away')
    })
    expect(await publishEvents(by, job.id)).toEqual({
      published: 1,
      refused: 0,
      pending: 1,
      failure: 'the topic is away',
    })
    expect(warned.mock.calls[0]?.[1]).toMatchObject({ error: { message: 'the topic is away' } })
    expect(await publishEvents(by, job.id)).toEqual({ published: 1, refused: 0, pending: 0 })
  })
})
