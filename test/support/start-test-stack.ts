import { type StackOptions, startStack } from '../../local/stack.ts'
import { LockRelay } from './lock-relay.ts'
import { DatabaseRelay } from './relay.ts'
import { sandboxOf } from './socket-owner.ts'
import { StorageRelay } from './storage-relay.ts'
import { TestStack } from './test-stack.ts'
import { TopicRelay } from './topic-relay.ts'

/** Relays to put between the functions and their stores. */
export type RelayChoice = {
  readonly database?: boolean
  readonly lock?: boolean
  readonly storage?: boolean
  readonly topic?: boolean
}

/** Backoffs are for production: a retry follows almost at once here. */
const PACE = { retryMs: 50 }

/** Starts a stack whose functions reach MySQL, Valkey and S3 through the chosen relays. */
export const startTestStack = async (relays: RelayChoice, options: StackOptions): Promise<TestStack> => {
  const database = relays.database === true ? await DatabaseRelay.start() : undefined
  const lock = relays.lock === true ? await LockRelay.start() : undefined
  const storage = relays.storage === true ? await StorageRelay.start() : undefined
  const topic = relays.topic === true ? await TopicRelay.start() : undefined
  const variables = {
    ...options.variables,
    ...(database === undefined ? {} : { DATABASE_PORT: String(database.port) }),
    ...(lock === undefined ? {} : { LOCK_PORT: String(lock.port) }),
    ...(storage === undefined ? {} : { AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${storage.port}` }),
    ...(topic === undefined ? {} : { AWS_ENDPOINT_URL_SNS: `http://127.0.0.1:${topic.port}` }),
  }
  // SHARELOCK_APP: a folder that was synthesised before, such as the one that is about to be deployed.
  const app = options.app ?? process.env.SHARELOCK_APP
  const stack = await startStack({ pace: PACE, ...options, app, variables })
  for (const [relay, target] of [
    [database, stack.database],
    [lock, stack.lock],
    [storage, { host: '127.0.0.1', port: stack.aws.port }],
    [topic, { host: '127.0.0.1', port: stack.aws.port }],
  ] as const) {
    if (relay === undefined) continue
    relay.target = { host: target.host, port: target.port }
    if (!(relay instanceof TopicRelay)) relay.ownerOf = sandboxOf(stack.lambda)
  }
  return await TestStack.open(stack, { database, lock, storage, topic })
}
