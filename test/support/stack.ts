import { afterAll, afterEach, beforeAll, inject } from 'vitest'
import type { StackOptions } from '../../local/stack.ts'
import { startTestStack } from './start-test-stack.ts'
import type { TestStack } from './test-stack.ts'

export type UseStackOptions = Omit<StackOptions, 'env'> & {
  /** Servers that this file may stop and break, and so are its own; the others are shared with all files. */
  readonly own?: readonly ('mysql' | 'valkey')[]
  /** Puts the relay between the functions and MySQL. */
  readonly relay?: boolean
}

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

const start = async ({ own = [], relay = false, ...options }: UseStackOptions): Promise<TestStack> =>
  await startTestStack({ database: relay }, { ...options, env: { PATH: process.env.PATH, ...sharedServers(own) } })

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
