import { PublishCommand } from '@aws-sdk/client-sns'
import { messageOf } from '../contract/errors.ts'
import { PUBLISH_BUDGET_MS } from '../contract/limits.ts'
import { markPublished, pendingEvents } from '../store/outbox.ts'
import { statement } from '../store/transaction.ts'
import type { Run } from './task.ts'

/** What was sent and what is left; a rest stays in the outbox and is sent later, so it is reported and not an error. */
export type PublishReport = { readonly published: number; readonly pending: number; readonly failure?: string }

/**
 * Sends unpublished events, oldest first, and marks each after the topic accepted it. It stops at the first refusal, so
 * a job's events keep their order, and after PUBLISH_BUDGET_MS: a silent topic must not hold its run up.
 *
 * @param job only this job's events; all if omitted
 */
export const publishEvents = async (run: Run, job?: number): Promise<PublishReport> => {
  const { database, sns, env } = run
  const events = await statement(database, () => pendingEvents(database, job))
  const startedAt = performance.now()
  let published = 0
  for (const event of events) {
    if (performance.now() - startedAt > PUBLISH_BUDGET_MS) break
    try {
      await sns.send(
        new PublishCommand({
          TopicArn: env.TOPIC_ARN,
          Message: JSON.stringify({
            id: event.event_id,
            type: event.type,
            at: event.created_at,
            ...Object(event.payload),
          }),
          MessageAttributes: {
            id: { DataType: 'String', StringValue: event.event_id },
            type: { DataType: 'String', StringValue: event.type },
          },
        }),
      )
    } catch (error) {
      run.logger.warn('the topic did not take an event; it stays in the outbox', { error: error as Error })
      return { published, pending: events.length - published, failure: messageOf(error) }
    }
    await statement(database, () => markPublished(database, event.id))
    published += 1
  }
  return { published, pending: events.length - published }
}
