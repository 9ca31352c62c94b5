import { setTimeout as sleep } from 'node:timers/promises'
import type { Sandbox } from '../../../local/lambda/sandbox.ts'
import { callAgain, WRITERS } from '../../support/faults.ts'
import type { Statement } from '../../support/relay.ts'
import type { Random } from './random.ts'
import { count, type Setting } from './setting.ts'

/* Who breaks things, one after the other; what is frozen or armed goes on in the background. */

const PAUSE_MS = [100, 900] as const
const STATEMENTS = [/for share$/, /for update$/, /^update job_chunk/, /^load data/, /^delete from/, /^commit$/]
const DEADLOCK = { errno: 1213, sqlState: '40001', message: 'Deadlock found', rollback: true }
const LOCK_TIMEOUT = { errno: 1205, sqlState: 'HY000', message: 'Lock wait timeout exceeded', rollback: false }

const busy = ({ lab }: Setting): Sandbox[] => lab.on.stack.lambda.sandboxes.filter(({ state }) => state === 'busy')

const send = (sandbox: Sandbox | undefined, signal: NodeJS.Signals): boolean => {
  if (sandbox === undefined || sandbox.state === 'ended') return false
  process.kill(sandbox.pid, signal)
  return true
}

const thawLater = (setting: Setting, sandbox: Sandbox | undefined, ms: number): void => {
  setting.pending.push(sleep(ms).then(() => send(sandbox, 'SIGCONT')))
}

const onWire = (setting: Setting, random: Random, act: (at: Statement) => unknown): void => {
  const task = random.pick(WRITERS) ?? 'OpenJob'
  const moment = random.chance(0.5) ? 'before' : 'after'
  setting.lab.on.relay.arm({ task, sql: random.pick(STATEMENTS) ?? /^commit$/, moment, act })
}

type Act = (setting: Setting, random: Random) => unknown

/** Each kind of fault, and how often it is chosen. */
const KINDS: Readonly<Record<string, readonly [weight: number, act: Act]>> = {
  'Lambda killed': [8, (setting, random) => send(random.pick(busy(setting)), 'SIGKILL')],
  'Lambda frozen': [
    8,
    (setting, random) => {
      const sandbox = random.pick(busy(setting))
      if (send(sandbox, 'SIGSTOP')) thawLater(setting, sandbox, random.between(100, 2_500))
    },
  ],
  'Lambda frozen, lock expired': [
    6,
    async (setting, random) => {
      const sandbox = random.pick(busy(setting))
      const player = random.pick(setting.players)
      if (!send(sandbox, 'SIGSTOP')) return
      thawLater(setting, sandbox, random.between(300, 2_500))
      if (player !== undefined) await setting.lab.on.valkey.del(setting.lab.on.lockKey(player.slice))
    },
  ],
  'Lambda timed out, left running': [
    4,
    (setting, random) => {
      const sandbox = random.pick(busy(setting))
      if (send(sandbox, 'SIGSTOP')) thawLater(setting, sandbox, random.between(300, 2_500))
      sandbox?.timeOut()
    },
  ],
  'Lambda run twice': [
    6,
    ({ lab, pending }, random) => {
      const call = random.pick(lab.calls.slice(-20))
      if (call !== undefined) pending.push(callAgain(lab.on, call))
    },
  ],
  'old call repeated': [
    6,
    ({ lab, pending }, random) => {
      const call = random.pick(lab.calls)
      if (call !== undefined) pending.push(callAgain(lab.on, call))
    },
  ],
  'Valkey flushed': [2, ({ lab }) => lab.on.valkey.flushall()],
  'Valkey restarted empty': [2, ({ lab }) => lab.on.stack.lock.server?.restart()],
  'Valkey silent': [
    2,
    async ({ lab: { on } }, random) => {
      on.stack.lock.server?.freeze()
      await sleep(random.between(300, 3_000))
      on.stack.lock.server?.thaw()
    },
  ],
  'Valkey out of memory': [
    2,
    async ({ lab: { on } }, random) => {
      await on.valkey.config('SET', 'maxmemory', '1')
      await sleep(random.between(200, 1_500))
      await on.valkey.config('SET', 'maxmemory', '0')
    },
  ],
  'Valkey READONLY': [
    2,
    async ({ lab: { on } }, random) => {
      await on.valkey.call('replicaof', '127.0.0.1', '1')
      await sleep(random.between(200, 1_500))
      await on.valkey.call('replicaof', 'no', 'one')
    },
  ],
  'MySQL connections killed': [
    4,
    async ({ lab: { on } }) => {
      const { user } = on.stack.database.app
      const found = await on.rows<{ id: number }>('select id from information_schema.processlist where user = ?', [
        user,
      ])
      for (const { id } of found) await on.outside.query('kill ?', [id]).catch(() => undefined)
    },
  ],
  'MySQL killed and restarted': [
    1,
    async ({ lab }) => {
      await lab.on.stack.database.server?.kill()
      await lab.on.stack.database.server?.restart()
      await lab.reconnect()
    },
  ],
  'MySQL read only': [
    2,
    async ({ lab: { on } }, random) => {
      await on.outside.query('set global read_only = on')
      await sleep(random.between(100, 800))
      await on.outside.query('set global read_only = off')
    },
  ],
  'TCP to MySQL cut at a statement': [6, (setting, random) => onWire(setting, random, (at) => at.cut())],
  'TCP to MySQL half-open': [2, (setting, random) => onWire(setting, random, (at) => at.strand())],
  'deadlock or lock timeout': [
    5,
    ({ lab: { on } }, random) => {
      const error = random.chance(0.5) ? DEADLOCK : LOCK_TIMEOUT
      const task = random.pick(WRITERS) ?? 'OpenJob'
      const sql = random.pick(STATEMENTS) ?? /^commit$/
      on.relay.arm({ task, sql, moment: 'before', act: (at) => at.refuse(error) })
    },
  ],
  'transfer from S3 cut': [
    3,
    ({ lab }) => void lab.on.storageRelay.arm({ task: 'RegisterChunk', key: /\.tsv/, kind: 'cut' }),
  ],
}

const WEIGHTS = Object.fromEntries(Object.entries(KINDS).map(([kind, [weight]]) => [kind, weight]))

/** Breaks things until the soak is over. */
export const sabotage = async (setting: Setting, random: Random): Promise<void> => {
  while (!setting.isOver()) {
    const kind = random.weighted(WEIGHTS)
    count(setting, `fault: ${kind}`)
    try {
      await KINDS[kind]?.[1](setting, random)
    } catch (error) {
      setting.violations.push(`the fault "${kind}" itself failed: ${error instanceof Error ? error.message : error}`)
    }
    await sleep(random.between(...PAUSE_MS))
  }
}
