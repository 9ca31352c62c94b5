import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import type { ValkeyServer } from '../../../../local/servers/valkey.ts'
import type { Ended } from '../../../support/ended.ts'
import { pause } from '../../../support/faults.ts'
import { type Cell, type Fault, onDatabase } from '../fault.ts'
import type { Moment } from '../moments.ts'

/*
 * Valkey fails over to a replica that is behind: what the run had set or extended is unknown there, and what was released
 * long ago may still be held. A run that meets it was healthy, so it has to end well.
 */

/** What is left of a released lock's life that the replica still knows: a run waits for it, here about a second at most. */
const GHOST_MS = 700

/** A full resynchronisation of a few keys takes milliseconds. */
const SYNC_MS_MAX = 10_000

type Failover = { readonly second: ValkeyServer; readonly client: Redis; readonly ghost: string; unfollow: () => void }

const failovers = new WeakMap<Cell, Failover>()

const failoverOf = (cell: Cell): Failover => {
  const found = failovers.get(cell)
  if (found === undefined) throw new Error('No replica was prepared')
  return found
}

/** `who` has the other's data as they are now. */
const follow = async (who: Redis, { host, port }: { readonly host: string; readonly port: number }): Promise<void> => {
  await who.call('replicaof', host, String(port))
  const deadline = Date.now() + SYNC_MS_MAX
  while (!/master_link_status:up/.test(await who.info('replication'))) {
    if (Date.now() > deadline) throw new Error('The replica does not follow')
    await pause(10)
  }
}

const promote = (who: Redis): Promise<unknown> => who.call('replicaof', 'no', 'one')

/** A replica whose link broke before the run began, with or without a lock that was released since. */
const prepare = async (cell: Cell, knowsLock: boolean): Promise<void> => {
  const { on, world, slice } = cell
  const second = await world.secondValkey()
  const client = new Redis({ host: second.host, port: second.port })
  client.on('error', () => undefined)
  const ghost = `ghost-${randomUUID()}`
  failovers.set(cell, { second, client, ghost, unfollow: () => undefined })
  await on.valkey.config('SET', 'repl-diskless-sync-delay', '0')
  if (knowsLock) await on.valkey.set(on.lockKey(slice), `${ghost}/1`, 'PX', 300_000)
  await follow(client, on.stack.lock)
  // Nobody listens there: it keeps what it has.
  await client.call('replicaof', '127.0.0.1', '1')
  await on.valkey.del(on.lockKey(slice))
}

/** New connections lead to the replica, which is the primary now. */
const failOver = async (cell: Cell): Promise<void> => {
  const { on, world, slice, runs } = cell
  const failover = failoverOf(cell)
  const { second, client, ghost } = failover
  await promote(client)
  if ((await client.pexpire(on.lockKey(slice), GHOST_MS)) === 1) runs.push(ghost)
  failover.unfollow = await world.watch.follow(second)
  on.lockRelay.target = { host: second.host, port: second.port }
}

/** The first server is the primary again, with all that the other one knows. */
const failBack = async (cell: Cell, end: Ended): Promise<void> => {
  const { on, moment, violations } = cell
  const { second, client, unfollow } = failoverOf(cell)
  await follow(on.valkey, second)
  await promote(on.valkey)
  await cell.world.watch.refresh()
  on.lockRelay.target = { host: on.stack.lock.host, port: on.stack.lock.port }
  on.lockRelay.cutAll()
  unfollow()
  client.disconnect()
  // A run that has no job yet has begun nothing: it is refused where the lock is held, as any other.
  const isHealthy = moment.needs === 'nothing' && moment.task !== 'AcquireLock'
  if (isHealthy && end.status !== 'SUCCEEDED')
    violations.push(`a healthy run was ended by the failover: ${end.error} ${end.cause}`)
}

/** Where the lock was acquired and is still needed, or is being given back. */
const suits = (moment: Moment): boolean =>
  moment.task !== 'StageSource' &&
  moment.task !== 'ReadHead' &&
  (!moment.inChunk || /^register-chunk-(before-guard|after-write)$/.test(moment.id))

const killed = (id: string, title: string, knowsLock: boolean, suits: Fault['suits']): Fault => ({
  id,
  title,
  suits,
  prepare: (cell) => prepare(cell, knowsLock),
  strike: async (cell) => {
    await failOver(cell)
    await cell.on.stack.lock.server?.kill()
  },
  heal: async (cell, end) => {
    await cell.on.stack.lock.server?.restart()
    await failBack(cell, end)
  },
})

const FEW = ['open-job', 'delete-chunk', 'register-chunk-after-write', 'mark-registered', 'halt-job']

const empty = killed(
  'valkey-failover',
  "Valkey killed, failed over to a replica that never heard of the run's lock",
  false,
  (moment) => FEW.includes(moment.id),
)

const ghost = killed(
  'valkey-failover-ghost',
  'Valkey killed, failed over to a replica that still knows a lock which was released before the run',
  true,
  suits,
)

const demoted: Fault = {
  id: 'valkey-failover-demoted',
  title: 'Valkey failed over to such a replica; open connections stay with the old primary, which follows the new one',
  suits: (moment) => suits(moment) && onDatabase(moment),
  prepare: (cell) => prepare(cell, true),
  strike: async (cell) => {
    await failOver(cell)
    await follow(cell.on.valkey, failoverOf(cell).second)
  },
  heal: failBack,
}

export const FAILOVER_FAULTS: readonly Fault[] = [empty, ghost, demoted]
