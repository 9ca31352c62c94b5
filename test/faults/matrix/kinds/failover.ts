import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import type { ValkeyServer } from '../../../../local/servers/valkey.ts'
import type { Ended } from '../../../support/ended.ts'
import { pause } from '../../../support/faults.ts'
import { type Fault, onDatabase, type Trial } from '../fault.ts'
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

const failovers = new WeakMap<Trial, Failover>()

const failoverOf = (trial: Trial): Failover => {
  const found = failovers.get(trial)
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
const prepare = async (trial: Trial, knowsLock: boolean): Promise<void> => {
  const { on, lab, slice } = trial
  const second = await lab.secondValkey()
  const client = new Redis({ host: second.host, port: second.port })
  client.on('error', () => undefined)
  const ghost = `ghost-${randomUUID()}`
  failovers.set(trial, { second, client, ghost, unfollow: () => undefined })
  await on.valkey.config('SET', 'repl-diskless-sync-delay', '0')
  if (knowsLock) await on.valkey.set(on.lockKey(slice), `${ghost}/1`, 'PX', 300_000)
  await follow(client, on.stack.lock)
  // Nobody listens there: it keeps what it has.
  await client.call('replicaof', '127.0.0.1', '1')
  await on.valkey.del(on.lockKey(slice))
}

/** New connections lead to the replica, which is the primary now. */
const failOver = async (trial: Trial): Promise<void> => {
  const { on, lab, slice, runs } = trial
  const failover = failoverOf(trial)
  const { second, client, ghost } = failover
  await promote(client)
  if ((await client.pexpire(on.lockKey(slice), GHOST_MS)) === 1) runs.push(ghost)
  failover.unfollow = await lab.watch.follow(second)
  on.lockRelay.target = { host: second.host, port: second.port }
}

/** The first server is the primary again, with all that the other one knows. */
const failBack = async (trial: Trial, end: Ended): Promise<void> => {
  const { on, moment, violations } = trial
  const { second, client, unfollow } = failoverOf(trial)
  await follow(on.valkey, second)
  await promote(on.valkey)
  await trial.lab.watch.refresh()
  on.lockRelay.target = { host: on.stack.lock.host, port: on.stack.lock.port }
  on.lockRelay.cutAll()
  unfollow()
  client.disconnect()
  // A run that has no job yet has begun nothing: it is refused where the lock is held, as any other.
  const isHealthy = (moment.needs === 'nothing' || moment.needs === 'undo') && moment.task !== 'AcquireLock'
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
  prepare: (trial) => prepare(trial, knowsLock),
  strike: async (trial) => {
    await failOver(trial)
    await trial.on.stack.lock.server?.kill()
  },
  heal: async (trial, end) => {
    await trial.on.stack.lock.server?.restart()
    await failBack(trial, end)
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
  prepare: (trial) => prepare(trial, true),
  strike: async (trial) => {
    await failOver(trial)
    await follow(trial.on.valkey, failoverOf(trial).second)
  },
  heal: failBack,
}

export const FAILOVER_FAULTS: readonly Fault[] = [empty, ghost, demoted]
