import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLockServer } from '../../../local/servers/stores.ts'
import { readApp } from '../../../local/template/read.ts'
import { synthesise } from '../../../local/template/synth.ts'
import { atMost, median, millis, whole } from '../../harness/figures.ts'
import { packageVersion } from '../../harness/machine.ts'
import type { Sizes } from '../../harness/settings.ts'
import type { Say } from '../../harness/testbed.ts'
import type { Found, Section } from '../section.ts'
import { type Cost, contention, costs, PARALLEL, throughput, VERBS, type Verb } from './figures.ts'
import { lockPeers, openClient, type Retry } from './peers.ts'

/** Commands a second that all starters together may send once their first attempt is over. */
const CALM_COMMANDS_PER_S_PER_STARTER = 1

/** Valkey also names the version of Redis that it replaces. */
const versionOf = (info: string): string =>
  (/^valkey_version:(\S+)/m.exec(info) ?? /^redis_version:(\S+)/m.exec(info))?.[1] ?? 'unknown'

/** How a waiting execution tries again, from the machine as it is deployed. */
const retryOfMachine = async (say: Say): Promise<Retry> => {
  const app = readApp(await synthesise(say), { region: 'ap-northeast-2', account: '000000000000' })
  const state = app.machines.find(({ name }) => name.startsWith('Job'))?.definition.States.AcquireLock
  type Policy = { ErrorEquals: string[]; IntervalSeconds: number; BackoffRate: number; MaxDelaySeconds: number }
  const policy = (state?.Retry as Policy[] | undefined)?.find(({ ErrorEquals }) => ErrorEquals.includes('LockAwaited'))
  if (policy === undefined) throw new Error('AcquireLock has no Retry for LockAwaited')
  return { intervalS: policy.IntervalSeconds, backoffRate: policy.BackoffRate, delayMaxS: policy.MaxDelaySeconds }
}

type Figures = {
  readonly name: string
  readonly cost: Record<Verb, Cost>
  readonly cyclesPerS: number
  readonly perSecond: readonly number[]
}

const measure = async (sizes: Sizes, say: Say): Promise<Found> => {
  const retry = await retryOfMachine(say)
  const folder = await mkdtemp(join(tmpdir(), 'sharelock-bench-'))
  const server = await openLockServer(process.env, folder, {}, say)
  const [client, observer] = [await openClient(server), await openClient(server)]
  const figures: Figures[] = []
  try {
    for (const peer of lockPeers(retry)) {
      const cost = await costs(peer, client, observer)
      const cyclesPerS = await throughput(peer, client, sizes.lockS)
      const perSecond = await contention(peer, observer, server.port, sizes, retry)
      figures.push({ name: peer.name, cost, cyclesPerS, perSecond })
      say(`${peer.name} done`)
    }
    const version = versionOf(await observer.info('server'))
    return report(sizes, retry, version, figures)
  } finally {
    for (const one of [client, observer]) one.disconnect()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The first two seconds hold everybody's first attempt. */
const FIRST_SECONDS = 2

const report = (sizes: Sizes, retry: Retry, version: string, figures: readonly Figures[]): Found => {
  const calm = (one: Figures) => Math.max(...one.perSecond.slice(FIRST_SECONDS), 0)
  const own = figures[0]
  const most = own === undefined ? Number.NaN : calm(own)
  const round = (value: number) => String(Math.round(value * 100) / 100)
  const names = figures.map(({ name }) => name)
  return {
    tables: [
      {
        title: 'What each verb costs: round trips / commands on the server (those inside scripts included) / median ms',
        head: ['', ...VERBS, `cycles/s, ${PARALLEL} locks at once`],
        rows: figures.map(({ name, cost, cyclesPerS }) => [
          name,
          ...VERBS.map((verb) =>
            [round(cost[verb].roundTrips), round(cost[verb].commands), millis(median(cost[verb].ms))].join(' / '),
          ),
          whole(cyclesPerS),
        ]),
      },
      {
        title: `${sizes.starters} starters wait for one held lock: commands a second on the server`,
        head: ['', 'first two seconds, together', 'then, most in a second', 'then, median'],
        rows: figures.map((one) => [
          one.name,
          whole(one.perSecond.slice(0, FIRST_SECONDS).reduce((sum, value) => sum + value, 0)),
          whole(calm(one)),
          whole(median(one.perSecond.slice(FIRST_SECONDS))),
        ]),
      },
    ],
    charts: [
      {
        title: 'Acquire, verify, release',
        unit: 'cycles/s',
        labels: names,
        values: figures.map((one) => one.cyclesPerS),
      },
    ],
    verdicts: [
      atMost(
        `${sizes.starters} waiting starters, commands a second after the first attempts:`,
        most,
        sizes.starters * CALM_COMMANDS_PER_S_PER_STARTER,
        `${whole(most)} at most`,
      ),
    ],
    notes: [
      `Sharelock waits in the machine’s Retry: ${retry.intervalS} s, doubled up to ${retry.delayMaxS} s, full jitter. So a waiter may learn of a release up to two minutes late, where the libraries poll every 10 ms (redis-semaphore) and 200 ms (redlock).`,
      'Sharelock’s acquire also answers who holds the lock and for how long, and “mine” to a repetition; its verify reports the lock’s age. Those are its extra commands, inside one round trip.',
    ],
    settings: {
      Valkey: version,
      ioredis: packageVersion('ioredis'),
      'redis-semaphore': packageVersion('redis-semaphore'),
      redlock: packageVersion('redlock'),
    },
  }
}

export const lock: Section = {
  name: 'lock',
  title: 'The lock',
  about: 'Sharelock’s lock beside redis-semaphore and redlock, each with its defaults, on one Valkey.',
  needs: 'nothing',
  measure,
}
