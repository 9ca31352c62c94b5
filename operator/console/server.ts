import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import type { Operations } from '../operations/operations.ts'
import { consoleApp } from './app.ts'
import { BrowserSession } from './browser-session.ts'
import { Plans } from './parts/plans.ts'
import { UPLOAD_BYTES_MAX } from './upload.ts'

export type ConsoleOptions = {
  readonly operations: Operations
  /** By default a free one. */
  readonly port?: number | undefined
  readonly uploadBytesMax?: number
}

export type RunningConsole = {
  /** Opens the console once, in one browser. */
  readonly url: string
  /** Where uploads lie until they are started. */
  readonly folder: string
  /** Ends every connection and removes every upload. */
  readonly close: () => Promise<void>
}

const LOOPBACK = '127.0.0.1'

/** Serves the console on loopback, with whatever credentials the operations have. */
export const startConsole = async (options: ConsoleOptions): Promise<RunningConsole> => {
  const { operations, port: wanted = 0, uploadBytesMax = UPLOAD_BYTES_MAX } = options
  const session = new BrowserSession()
  const plans = new Plans()
  // mkdtemp makes it for this user alone.
  const folder = await mkdtemp(join(tmpdir(), 'sharelock-console-'))
  const hosts = new Set<string>()
  const desk = { operations, session, plans, folder, uploadBytesMax, hosts, identity: identityOf(operations) }
  try {
    // The app needs the port in its cookie's name: cookies of all ports of a host lie in one jar.
    let fetch: ReturnType<typeof consoleApp>['fetch'] | undefined
    const server = createAdaptorServer({ fetch: (request, env) => fetch?.(request, env) })
    await new Promise<void>((listening, failed) => {
      server.once('error', failed)
      server.listen(wanted, LOOPBACK, listening)
    })
    const { port } = server.address() as AddressInfo
    for (const name of [LOOPBACK, 'localhost']) hosts.add(`${name}:${port}`)
    fetch = consoleApp({ ...desk, cookie: `sharelock-${port}` }).fetch
    const close = async (): Promise<void> => {
      const closed = new Promise((resolve) => server.close(resolve))
      if ('closeAllConnections' in server) server.closeAllConnections()
      await closed
      await plans.forgetAll()
      await rm(folder, { recursive: true, force: true })
    }
    return { url: `http://${LOOPBACK}:${port}${session.home}/enter?token=${session.token}`, folder, close }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

/** Asks for the caller's name without making anybody wait; after a failure the next page asks again. */
const identityOf = ({ identity }: Operations): (() => string | null) => {
  let known: string | null = null
  let isAsking = false
  const ask = async (): Promise<void> => {
    isAsking = true
    known = await identity().catch(() => null)
    isAsking = false
  }
  void ask()
  return () => {
    if (known === null && !isAsking) void ask()
    return known
  }
}
