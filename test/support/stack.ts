import { afterAll, afterEach, beforeAll, inject } from 'vitest'
import { type StackOptions, startStack } from '../../local/stack.ts'
import { DatabaseRelay } from './relay.ts'
import { ownerOfSocket } from './socket-owner.ts'
import { TestStack } from './test-stack.ts'

export type UseStackOptions = Omit<StackOptions, 'env'> & {
  /** Servers that this file may stop and break, and so are its own; the others are shared with all files. */
  readonly own?: readonly ('mysql' | 'valkey')[]
  /** Puts the relay between the functions and MySQL. */
  readonly relay?: boolean
}

/** Backoffs are for production: a retry follows almost at once here. */
const PACE = { retryMs: 50 }

const sharedServers = (own: readonly string[]): Record<string, string> => {
  const { mysql, valkey } = { mysql: inject('mysql'), valkey: inject('valkey') }
  return {
    ...(own.includes('mysql')
      ? {}
      : {
          SHARELOCK_MYSQL: `${mysql.host}:${mysql.port}`,
          SHARELOCK_MYSQL_USER: mysql.user,
          SHARELOCK_MYSQL_PASSWORD: mysql.password,
        }),
    ...(own.includes('valkey') ? {} : { SHARELOCK_VALKEY: `${valkey.host}:${valkey.port}` }),
  }
}

const start = async ({ own = [], relay: useRelay, ...options }: UseStackOptions): Promise<TestStack> => {
  const relay = useRelay === true ? await DatabaseRelay.start() : undefined
  const variables = { ...options.variables, ...(relay === undefined ? {} : { DATABASE_PORT: String(relay.port) }) }
  // SHARELOCK_APP: a folder that was synthesised before, such as the one that is about to be deployed.
  const app = options.app ?? process.env.SHARELOCK_APP
  const env = { PATH: process.env.PATH, ...sharedServers(own) }
  const stack = await startStack({ pace: PACE, ...options, app, env, variables })
  if (relay !== undefined) {
    relay.target = { host: stack.database.host, port: stack.database.port }
    relay.ownerOf = (from, to) => {
      const { sandboxes } = stack.lambda
      const pids = sandboxes.map((sandbox) => sandbox.pid)
      const pid = ownerOfSocket(from, to, pids)
      return pid === undefined ? undefined : { pid, task: sandboxes.find((one) => one.pid === pid)?.fn.name ?? '' }
    }
  }
  return await TestStack.open(stack, relay)
}

/** Starts a stack before the file's tests and stops it after them. */
export const useStack = (options: UseStackOptions = {}): (() => TestStack) => {
  let running: TestStack | undefined
  beforeAll(async () => {
    running = await start(options)
  })
  afterEach(() => running?.disarm())
  afterAll(() => running?.close())
  return () => {
    if (running === undefined) throw new Error('The stack does not run yet')
    return running
  }
}
