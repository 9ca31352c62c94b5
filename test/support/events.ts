import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { expect } from 'vitest'
import type { TestSlice, TestStack } from './test-stack.ts'

/** An event as its consumer receives it. */
export type Received = {
  readonly id: string
  readonly type: string
  readonly distributor: string
  readonly month: string
  readonly job: number
}

/** A consumer of the topic: takes what is in the queue, and keeps each event once per id as a consumer has to. */
export class Consumer {
  readonly #client: SQSClient
  readonly #queueUrl: string
  readonly byId = new Map<string, Received>()
  /** Every delivery, repetitions included. */
  readonly deliveries: Received[] = []

  constructor(aws: { readonly endpoint: string; readonly queueUrl: string }) {
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
    this.#client = new SQSClient({ region: 'ap-northeast-2', endpoint: aws.endpoint, credentials })
    this.#queueUrl = aws.queueUrl
  }

  async drain(): Promise<void> {
    for (;;) {
      const { Messages = [] } = await this.#client.send(
        new ReceiveMessageCommand({ QueueUrl: this.#queueUrl, MaxNumberOfMessages: 10 }),
      )
      if (Messages.length === 0) return
      for (const { Body, ReceiptHandle } of Messages) {
        const event = JSON.parse(Body ?? '') as Received
        this.deliveries.push(event)
        this.byId.set(event.id, event)
        await this.#client.send(new DeleteMessageCommand({ QueueUrl: this.#queueUrl, ReceiptHandle }))
      }
    }
  }

  /** How often an event of the slice arrived. */
  deliveriesOf({ distributor, month }: TestSlice): number {
    return this.deliveries.filter((event) => event.distributor === distributor && event.month === month).length
  }

  /** The types of the slice's events in the order of their first delivery. */
  typesOf({ distributor, month }: TestSlice): string[] {
    return [...this.byId.values()]
      .filter((event) => event.distributor === distributor && event.month === month)
      .map((event) => event.type)
  }

  /** All events that the outbox calls published arrived; none arrived that the outbox does not know. */
  async expectInStep(on: TestStack): Promise<void> {
    await this.drain()
    const written = await on.rows<{ event_id: string; published: number }>(
      'select event_id, published_at is not null as published from outbox',
    )
    const known = new Set(written.map((event) => event.event_id))
    expect([...this.byId.keys()].filter((id) => !known.has(id))).toEqual([])
    const published = written.filter((event) => event.published === 1).map((event) => event.event_id)
    expect(published.filter((id) => !this.byId.has(id))).toEqual([])
  }
}
