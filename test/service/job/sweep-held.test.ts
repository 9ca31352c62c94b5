import { createConnection } from 'mysql2/promise'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openJob } from '../../../functions/job/open-job.ts'
import { sweep } from '../../../functions/job/sweep.ts'
import { writeEvent } from '../../../functions/store/job/outbox.ts'
import { quietJobs } from '../../../functions/store/job/quiet-jobs.ts'
import { readJob } from '../../../functions/store/job/row.ts'
import { transaction } from '../../../functions/store/mysql/transaction.ts'
import { headOf, opening, testContext } from '../../support/test-context.ts'
import { INPUT, QUIET_S, Topic, useSweep } from './use-sweep.ts'

const { db, openedAgo, runWith } = useSweep()

describe('an open job whose row another program holds', () => {
  test('ends the sweep by that name, but only once all others are halted and the events are published', async () => {
    const [blocked, free] = [await openedAgo(60), await openedAgo(15)]
    await transaction(db.outside, (tx) => writeEvent(tx, blocked.job.id, 'JobHalted', {}))
    const { DATABASE_HOST: host, DATABASE_PORT: port, DATABASE_NAME: database } = db.address
    const { DATABASE_USER: user, DATABASE_PASSWORD: password = '' } = db.address
    // Without our mark, so nobody ends it.
    const stranger = await createConnection({ host, port, database, user, password })
    onTestFinished(() => stranger.destroy())
    await stranger.query('start transaction')
    await stranger.query('select id from job where id = ? for update', [blocked.job.id])
    const topic = new Topic()
    const connection = db.connect()
    await connection.change('set session innodb_lock_wait_timeout = 1')
    const run = { ...runWith(topic), database: connection }
    await expect(sweep(run, INPUT, QUIET_S)).rejects.toMatchObject({ name: 'DatabaseBlocked' })
    expect(await readJob(db.outside, free.job.id)).toMatchObject({ halt_error: 'Abandoned' })
    expect(topic.taken).toHaveLength(2)
    stranger.destroy()
    expect(await sweep(runWith(new Topic()), INPUT, QUIET_S)).toMatchObject({ halted: [blocked.job.id] })
  })
})

describe('a job that is no longer the one that was seen', () => {
  test('is left alone: taken over between the look and the halt', async () => {
    const { slice, job } = await openedAgo(15)
    let taken = false
    const run = runWith(new Topic(), {
      lock: async () => ({
        // Between the sweeper's look at the lock and its halt, another run takes over.
        eval: async () => {
          if (!taken) await openJob(testContext(db.connect()), opening(slice, 'b/2', headOf(job)))
          taken = true
          return null
        },
      }),
    })
    expect(await sweep(run, INPUT, QUIET_S)).toMatchObject({ halted: [] })
    expect(await readJob(db.outside, job.id)).toMatchObject({ lock_token: 'b/2', halted_at: null })
  })

  test('is left alone though its number and fence are the same: the database went back, and another run was given them', async () => {
    const { job } = await openedAgo(15)
    const run = runWith(new Topic(), {
      lock: async () => ({
        eval: async () => {
          await db.outside.change(`update job set execution = 'arn:execution:b', lock_token = 'b/2' where id = ?`, [
            job.id,
          ])
          return null
        },
      }),
    })
    expect(await sweep(run, INPUT, QUIET_S)).toMatchObject({ halted: [] })
    expect(await readJob(db.outside, job.id)).toMatchObject({ fence: job.fence, lock_token: 'b/2', halted_at: null })
  })

  test('is no quiet job once it is halted, REGISTERED or closed', async () => {
    for (const change of [
      'halted_at = current_timestamp(6)',
      `state = 'REGISTERED'`,
      'closed_at = current_timestamp(6)',
    ]) {
      const { job } = await openedAgo(15)
      await db.outside.change(`update job set ${change} where id = ?`, [job.id])
    }
    expect(await quietJobs(db.outside, QUIET_S)).toEqual([])
  })
})
