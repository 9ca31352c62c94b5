import { type PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { beforeEach } from 'vitest'
import { openJob } from '../../../functions/job/open-job.ts'
import type { TaskContext } from '../../../functions/job/task.ts'
import { opening, testContext } from '../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../support/test-database.ts'

export const QUIET_S = 600
export const INPUT = { registeredByDay: 28, monthsBack: 1 }

/** A topic that takes everything, or nothing, and what it took. */
export class Topic extends SNSClient {
  readonly taken: string[] = []
  refuses = false
  override send = (async (command: PublishCommand) => {
    if (this.refuses) throw new Error('the topic is away')
    this.taken.push(String(command.input.Message))
    return {}
  }) as never
}

/** A database whose jobs are all closed and whose events are all published before each test, and sweeps of it. */
export const useSweep = () => {
  const db = useTestDatabase('sweep')

  beforeEach(async () => {
    await db.outside.change('update job set closed_at = current_timestamp(6) where closed_at is null')
    await db.outside.change('update outbox set published_at = current_timestamp(6) where published_at is null')
  })

  const runWith = (topic: Topic, change: Partial<TaskContext> = {}): TaskContext => ({
    ...testContext(db.connect()),
    sns: topic,
    ...change,
  })

  /** A job that was opened `minutes` ago and has done nothing since. */
  const openedAgo = async (minutes: number, token = 'a/1') => {
    const slice = await newSlice(db.outside)
    const job = await openJob(testContext(db.connect()), opening(slice, token, null))
    await db.outside.change('update job set opened_at = current_timestamp(6) - interval ? minute where id = ?', [
      minutes,
      job.id,
    ])
    return { slice, job }
  }

  return { db, runWith, openedAgo }
}
