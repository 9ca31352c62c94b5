import { setTimeout as sleep } from 'node:timers/promises'
import { jobsOf, lockOf } from '../../support/invariants.ts'
import { KIM } from '../../support/operator-functions.ts'
import type { Random } from './random.ts'
import { count, type Player, type Setting } from './setting.ts'

/* Who asks for runs: operators, and the schedule. They know nothing of the faults. */

const WEIGHTS = { start: 10, resume: 6, undo: 2, stop: 3, schedule: 2, expire: 8, withdraw: 1 } as const
const PAUSE_MS = [150, 700] as const

const SCHEDULED = JSON.stringify({ scheduledAt: '2026-11-09T17:00:00Z' })

/** What each slice was last asked for: an operator who resumes asks for the same again. */
type Memory = Map<Player, object>

const request = async (setting: Setting, player: Player, wish: object): Promise<void> => {
  const { on } = setting.lab
  await on.start({ ...player.slice, ...wish, requestedBy: 'soak' })
}

const start = async (setting: Setting, player: Player, random: Random, memory: Memory): Promise<void> => {
  const wish = {
    source: random.pick(player.staged),
    supersede: random.chance(0.5),
    force: random.chance(0.15),
    onHeld: random.chance(0.4) ? 'wait' : 'fail',
    onOutage: random.chance(0.3) ? 'proceed' : 'halt',
  }
  memory.set(player, wish)
  await request(setting, player, wish)
}

const stop = async ({ lab }: Setting, random: Random): Promise<void> => {
  const running = lab.on.stack.engine.executions().filter(({ status }) => status === 'RUNNING')
  random.pick(running)?.stop('Operator', 'stopped in the soak')
}

const deliver = async ({ lab }: Setting): Promise<void> => {
  const { engine, machineArns } = lab.on.stack
  const arn = Object.entries(machineArns).find(([name]) => name.startsWith('Dispatch'))?.[1] ?? ''
  engine.start(arn, SCHEDULED)
}

/** A lock whose run is over ends with its TTL, five minutes later: as time would. */
const expire = async ({ lab: { on } }: Setting, { slice }: Player): Promise<void> => {
  const holder = (await lockOf(on, slice))?.token.split('/')[0]
  const run = on.stack.engine.executions().find(({ name }) => name === holder)
  if (run !== undefined && run.status !== 'RUNNING') await on.valkey.del(on.lockKey(slice))
}

/** Only of every other slice: what a reader of the others saw once is never gone. */
const withdraw = async ({ lab, players }: Setting, player: Player): Promise<void> => {
  const [newest] = await jobsOf(lab.on, player.slice)
  if (newest !== undefined && players.indexOf(player) % 2 === 0)
    await lab.operator.act({ action: 'withdraw', job: newest.id, ...KIM })
}

type Act = (setting: Setting, player: Player, random: Random, memory: Memory) => Promise<void>

const ACTS: Record<keyof typeof WEIGHTS, Act> = {
  start,
  resume: (setting, player, _random, memory) =>
    request(setting, player, memory.get(player) ?? { source: player.staged[0] }),
  undo: (setting, player, random) =>
    request(setting, player, { source: { undo: true }, supersede: random.chance(0.5) }),
  stop: (setting, _player, random) => stop(setting, random),
  schedule: deliver,
  expire,
  withdraw,
}

/** Asks for runs until the soak is over; what a store's outage does to an operator is no concern of ours. */
export const operate = async (setting: Setting, random: Random): Promise<void> => {
  const memory: Memory = new Map()
  while (!setting.isOver()) {
    const what = random.weighted(WEIGHTS)
    const player = random.pick(setting.players)
    if (player === undefined) return
    count(setting, `request: ${what}`)
    await ACTS[what](setting, player, random, memory).catch(() => undefined)
    await sleep(random.between(...PAUSE_MS))
  }
}
