import type { ValkeyServer } from '../../../../local/servers/valkey.ts'
import { pause } from '../../../support/faults.ts'
import type { Fault, Trial } from '../fault.ts'

/* What may happen to Valkey. It decides who waits; it never decides who may write. */

/** Longer than one lock command may take (2 s). */
const SILENCE_MS = 2_500
const SLOWNESS_MS = 150

const server = ({ on }: Trial): ValkeyServer => {
  const { server } = on.stack.lock
  if (server === undefined) throw new Error('The faults need a Valkey of their own')
  return server
}

const suits = (): boolean => true

const killed: Fault = {
  id: 'valkey-killed',
  title: 'Valkey killed, back when the run has ended',
  suits,
  strike: async (trial) => await server(trial).kill(),
  heal: async (trial) => await server(trial).restart(),
}

const restarted: Fault = {
  id: 'valkey-restarted',
  title: 'Valkey killed and restarted empty at once',
  suits,
  strike: async (trial) => {
    await server(trial).kill()
    await server(trial).restart()
  },
}

const flushed: Fault = {
  id: 'valkey-flushed',
  title: 'Valkey flushed',
  suits,
  strike: async ({ on }) => void (await on.valkey.flushall()),
}

const full: Fault = {
  id: 'valkey-out-of-memory',
  title: 'Valkey out of memory until the run has ended',
  suits,
  strike: async ({ on }) => void (await on.valkey.config('SET', 'maxmemory', '1')),
  heal: async ({ on }) => void (await on.valkey.config('SET', 'maxmemory', '0')),
}

const readOnly: Fault = {
  id: 'valkey-readonly',
  title: 'Valkey answering READONLY until the run has ended',
  suits,
  // The node that a failover left behind as a replica; nobody listens at its primary's port.
  strike: async ({ on }) => void (await on.valkey.call('replicaof', '127.0.0.1', '1')),
  heal: async ({ on }) => void (await on.valkey.call('replicaof', 'no', 'one')),
}

const silent: Fault = {
  id: 'valkey-silent',
  title: `Valkey silent for ${SILENCE_MS / 1_000} s`,
  suits,
  strike: (trial) => server(trial).freeze(),
  beside: async (trial) => {
    await pause(SILENCE_MS)
    server(trial).thaw()
  },
}

const slow: Fault = {
  id: 'valkey-slow',
  title: `Valkey answering ${SLOWNESS_MS} ms late`,
  suits,
  strike: ({ on }) => {
    on.lockRelay.delayMs = SLOWNESS_MS
  },
}

export const VALKEY_FAULTS: readonly Fault[] = [killed, restarted, flushed, full, readOnly, silent, slow]
