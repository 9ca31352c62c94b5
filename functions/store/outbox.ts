import { randomUUID } from 'node:crypto'
import { PUBLISH_EVENTS_MAX } from '../contract/limits.ts'
import type { EventType } from '../contract/words.ts'
import type { Database } from './database.ts'

export type OutboxEvent = {
  readonly id: number
  /** Consumers deduplicate by this: an event is published at least once. */
  readonly event_id: string
  readonly job_id: number
  readonly type: EventType
  readonly payload: unknown
  readonly created_at: string
}

/** Writes an event in the caller's transaction: it exists exactly if the transition committed. */
export const writeEvent = async (
  database: Database,
  job: number,
  type: EventType,
  payload: Record<string, unknown>,
): Promise<void> => {
  await database.change('insert into outbox (event_id, job_id, type, payload) values (?, ?, ?, ?)', [
    randomUUID(),
    job,
    type,
    JSON.stringify(payload),
  ])
}

/** Unpublished events, oldest first: of one job, or of all. */
export const pendingEvents = async (database: Database, job?: number): Promise<OutboxEvent[]> =>
  database.rows<OutboxEvent>(
    `select id, event_id, job_id, type, payload, created_at from outbox
     where published_at is null and (? is null or job_id = ?) order by id limit ?`,
    [job ?? null, job ?? null, PUBLISH_EVENTS_MAX],
  )

/** Called after the topic accepted the event; a crash in between publishes it again. */
export const markPublished = async (database: Database, id: number): Promise<void> => {
  await database.change('update outbox set published_at = current_timestamp(6) where id = ? and published_at is null', [
    id,
  ])
}
