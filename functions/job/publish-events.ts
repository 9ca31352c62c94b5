import { PublishCommand } from '@aws-sdk/client-sns'
import { isFailure, messageOf } from '../contract/failures.ts'
import { PUBLISH_BUDGET_MS } from '../contract/limits.ts'
import { type Marked, markPublished, markRefused, type OutboxEvent, pendingEvents } from '../store/job/outbox.ts'
import { repeatable, statement } from '../store/mysql/transaction.ts'
import type { TaskContext } from './task.ts'
import { isEventRefused } from './topic-answer.ts'

/** What was sent, what was set aside and what is left; the rest stays in the outbox and is sent later: it is no error. */
export type PublishReport = {
  readonly published: number
  readonly refused: number
  readonly pending: number
  readonly failure?: string
}

/**
 * Sends unpublished events, oldest first, and marks each after the topic accepted it. An event that the topic refuses is
 * set aside, so that it holds up no other; at everything else that goes wrong it stops, for the next event would meet the
 * same. After PUBLISH_BUDGET_MS it stops too: a silent topic must not hold its run up.
 * See decisions.md, "A refused event is set aside".
 *
 * @param job only this job's events; all if omitted
 */
export const publishEvents = async (context: TaskContext, job?: number): Promise<PublishReport> => {
  const { database } = context
  const events = await statement(database, (reader) => pendingEvents(reader, job))
  const startedAt = performance.now()
  let [published, refused] = [0, 0]
  for (const event of events) {
    if (performance.now() - startedAt > PUBLISH_BUDGET_MS) break
    try {
      await send(context, event)
    } catch (error) {
      if (isFailure(error, 'InvocationOver')) throw error
      const became = await setAside(context, event, error)
      if (became === 'left')
        return { published, refused, pending: events.length - published - refused, failure: messageOf(error) }
      if (became === 'marked') refused += 1
      else published += 1
      continue
    }
    // Marked now or by another publisher before: either way it is out.
    await repeatable(database, (one) => markPublished(one, event.id))
    published += 1
  }
  return { published, refused, pending: events.length - published - refused }
}

const send = async ({ sns, env }: TaskContext, event: OutboxEvent): Promise<void> => {
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
}

/** Notes an event that the topic refused. Left: it was not the event that was refused. */
const setAside = async (
  { database, logger }: TaskContext,
  event: OutboxEvent,
  error: unknown,
): Promise<Marked | 'left'> => {
  const details = { event: event.event_id, eventType: event.type, eventJob: event.job_id, error: error as Error }
  if (!isEventRefused(error)) {
    logger.warn('the topic did not take an event; it stays in the outbox', details)
    return 'left'
  }
  logger.warn('the topic refuses an event: it is set aside for an hour; see outbox-refused in docs/runbook.md', details)
  const said = `${(error as Error).name}: ${messageOf(error)}`
  return await repeatable(database, (one) => markRefused(one, event.id, said))
}
