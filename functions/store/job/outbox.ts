import { randomUUID } from 'node:crypto'
import { fitting } from '../../contract/fitting.ts'
import {
  EVENT_TEXT_CHARS_MAX,
  OUTBOX_ASIDE_S,
  OUTBOX_ERROR_CHARS_MAX,
  PUBLISH_EVENTS_MAX,
} from '../../contract/support-limits.ts'
import type { EventType } from '../../contract/words.ts'
import type { Changer, Reader, Tx } from '../mysql/tx.ts'

export type OutboxEvent = {
  readonly id: number
  /** Consumers deduplicate by this: an event is published at least once. */
  readonly event_id: string
  readonly job_id: number
  readonly type: EventType
  readonly payload: unknown
  readonly created_at: string
}

/**
 * Writes an event in the caller's transaction: it exists exactly if the transition committed. Texts are cut, since a cause
 * of Step Functions alone may be as long as a whole message, which no topic would ever take.
 */
export const writeEvent = async (
  tx: Tx,
  job: number,
  type: EventType,
  payload: Record<string, unknown>,
): Promise<void> => {
  await tx.change('insert into outbox (event_id, job_id, type, payload) values (?, ?, ?, ?)', [
    randomUUID(),
    job,
    type,
    JSON.stringify(payload, (_, value: unknown) =>
      typeof value === 'string' ? fitting(value, EVENT_TEXT_CHARS_MAX) : value,
    ),
  ])
}

/**
 * Unpublished events that are due, oldest first: of one job, or of all. One that was set aside is due when its time is up.
 * Each of the two statements reads along an index that has this order: sorting rows with a long payload needs more memory than the
 * server's sort buffer has, and fails.
 */
export const pendingEvents = async (reader: Reader, job?: number): Promise<OutboxEvent[]> =>
  reader.rows<OutboxEvent>(
    `select id, event_id, job_id, type, payload, created_at
     from outbox force index (${job === undefined ? 'outbox_pending' : 'outbox_job'})
     where published_at is null ${job === undefined ? '' : 'and job_id = ?'}
       and (set_aside_until is null or set_aside_until <= current_timestamp(6))
     order by id limit ?`,
    [...(job === undefined ? [] : [job]), PUBLISH_EVENTS_MAX],
  )

/** Published before: another publisher sent the same event, as it may, or this is a repetition of our own mark. */
export type Marked = 'marked' | 'published before'

const markedBy = ({ affectedRows }: { affectedRows: number }): Marked =>
  affectedRows === 1 ? 'marked' : 'published before'

/** Called after the topic accepted the event; a crash in between publishes it again. */
export const markPublished = async (one: Changer, id: number): Promise<Marked> =>
  markedBy(
    await one.change('update outbox set published_at = current_timestamp(6) where id = ? and published_at is null', [
      id,
    ]),
  )

/** Sets an event aside that the topic refused; `pendingEvents` has it again when its time is up. */
export const markRefused = async (one: Changer, id: number, error: string): Promise<Marked> =>
  markedBy(
    await one.change(
      `update outbox set attempts = attempts + 1, last_error = ?,
                         set_aside_until = current_timestamp(6) + interval ? second
       where id = ? and published_at is null`,
      [fitting(error, OUTBOX_ERROR_CHARS_MAX), OUTBOX_ASIDE_S, id],
    ),
  )
