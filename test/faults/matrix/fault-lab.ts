import { CHUNK_ROWS_MAX } from '../../../functions/contract/limits.ts'
import type { StatusEvent } from '../../../local/engine/status-event.ts'
import type { ValkeyServer } from '../../../local/servers/valkey.ts'
import { installAudit } from '../../support/audit.ts'
import { LockWatch } from '../../support/lock-watch.ts'
import { operatorFunctions } from '../../support/operator-functions.ts'
import { type ShareFile, shareFile } from '../../support/share-file.ts'
import { startTestStack } from '../../support/start-test-stack.ts'
import type { TestSlice, TestStack } from '../../support/test-stack.ts'
import type { Call } from '../../support/timeline.ts'
import { Reader } from './reader.ts'

/** Rows of the large old slice: two delete chunks, whose size is a constant of the code. */
export const LARGE = shareFile(Math.ceil(1.05 * CHUNK_ROWS_MAX), 7)

/** Small servers: the whole of a lab's data is a few megabytes. */
const MYSQL = { bufferPool: '128M', redoLog: '128M' }

/** A lock command is given up after 4 s; a silence lasts less than this. */
const LATE_COMMAND_S = 15

/** On a machine that is busy with other things a cold start takes seconds. */
const FIRST_RUN_MS_MAX = 300_000

/** What a fault may change of the stack itself. */
type Conditions = {
  /** How far the clock of sandboxes that start from now on is off. */
  clockMs: number
  /** What happens to status events; delivered at once where it is undefined. */
  onStatusEvent: ((deliver: () => void, event: StatusEvent) => void) | undefined
}

const CLOCK = new URL('../../support/shift-clock.ts', import.meta.url).href

const atOnce = (deliver: () => void): void => deliver()

/** A slice that nobody works on while faults strike. */
export type Bystander = { readonly slice: TestSlice; readonly file: ShareFile }

/** A stack whose servers are its own, with everything that watches it. One trial at a time has it to itself. */
export class FaultLab {
  readonly on: TestStack
  readonly watch: LockWatch
  readonly reader: Reader
  readonly operator: ReturnType<typeof operatorFunctions>
  readonly calls: Call[] = []
  readonly bystander: Bystander
  readonly largeFile = LARGE
  readonly #large: TestSlice
  readonly #conditions: Conditions
  #seed = 0
  #secondValkey: ValkeyServer | undefined

  private constructor(on: TestStack, conditions: Conditions, watch: LockWatch, bystander: Bystander, large: TestSlice) {
    this.on = on
    this.#conditions = conditions
    this.watch = watch
    this.bystander = bystander
    this.#large = large
    this.reader = new Reader(on)
    this.operator = operatorFunctions(on)
    on.stack.lambda.onInvoke(({ functionName, event, sandbox }) => {
      this.calls.push({ pid: sandbox.pid, task: functionName, at: Date.now() / 1_000, event })
    })
  }

  static async start(): Promise<FaultLab> {
    const conditions: Conditions = { clockMs: 0, onStatusEvent: undefined }
    const on = await startTestStack(
      { database: true, lock: true, storage: true, topic: true },
      {
        ...{ env: { PATH: process.env.PATH }, killOnTimeout: false, mysql: MYSQL, pace: { retryMs: 50, waitMs: 10 } },
        onStatusEvent: (event, deliver) => (conditions.onStatusEvent ?? atOnce)(deliver, event),
        nodeOptions: () => (conditions.clockMs === 0 ? [] : ['--import', `${CLOCK}?ms=${conditions.clockMs}`]),
      },
    )
    await on.outside.query('set @audit_off = 1')
    await installAudit(on)
    const watch = await LockWatch.start(on)
    const large = await on.newSlice()
    await on.seed(large, LARGE)
    const bystander = { slice: await on.newSlice(), file: shareFile(120, 8) }
    const lab = new FaultLab(on, conditions, watch, bystander, large)
    const run = await on.start({ ...bystander.slice, source: await on.stage(bystander.file, 25) })
    // Every function is started for the first time.
    const end = await on.ended(run, FIRST_RUN_MS_MAX)
    if (end.status !== 'SUCCEEDED') throw new Error(`The bystander's run failed: ${end.error} ${end.cause}`)
    return lab
  }

  /** A file of its own for each trial, so that no two trials share a staged source. */
  newFile(rows: number): ShareFile {
    this.#seed += 1
    return shareFile(rows, 1_000 + this.#seed)
  }

  /** What its servers say they are. */
  async versions(): Promise<{ mysql: string; valkey: string }> {
    const [row] = await this.on.rows<{ version: string }>('select version() as version')
    const info = await this.on.valkey.info('server')
    return { mysql: row?.version ?? '', valkey: /valkey_version:(\S+)/.exec(info)?.[1] ?? '' }
  }

  /** Gives a slot of a slice the large slice's rows. */
  async seedLarge({ distributor, month }: TestSlice, slot: 0 | 1 = 0): Promise<void> {
    await this.on.outside.query(
      `insert into share_ratio select d.id, ?, ?, s.isrc, s.right_type, s.party_id, s.share
       from share_ratio s join distributor l on l.id = s.distributor_id join distributor d on d.code = ?
       where l.code = ? and s.isrc > '' and s.isrc < '['`,
      [`${month}-01`, slot, distributor, this.#large.distributor],
    )
  }

  /** The call that a process was serving at a moment (seconds since 1970). */
  callOf(pid: number, at = Date.now() / 1_000): Call | undefined {
    return this.calls.findLast((call) => call.pid === pid && call.at <= at)
  }

  /** The call behind a session of MySQL, by the number the server gave it. */
  callOfThread = (thread: number, at: number): Call | undefined => {
    const session = this.on.relay.sessions.findLast((one) => one.thread === thread && one.openedAt / 1_000 <= at)
    return session?.owner === undefined ? undefined : this.callOf(session.owner.pid, at)
  }

  /** The calls behind a command to Valkey, by the port it came from. */
  callsOfPort = (port: number, at: number): Call[] => {
    const session = this.on.lockRelay.sessions.findLast(
      (one) => one.port === port && one.openedAt / 1_000 <= at && at <= one.closedAt / 1_000,
    )
    const calls = this.calls.filter((call) => call.pid === session?.owner?.pid && call.at <= at)
    return calls.filter((call, index) => index === calls.length - 1 || call.at > at - LATE_COMMAND_S).reverse()
  }

  /** After MySQL went away; what we write ourselves stays out of the record of writes. */
  async reconnect(): Promise<void> {
    await this.on.reconnect()
    await this.on.outside.query('set @audit_off = 1')
  }

  /** What a fault does with status events from now on; nothing for the ordinary delivery. */
  onStatusEvent(way?: Conditions['onStatusEvent']): void {
    this.#conditions.onStatusEvent = way
  }

  /**
   * Every sandbox that starts from now on has a clock that is off by so much, and none that is at rest is used again.
   */
  async shiftClock(ms: number): Promise<void> {
    this.#conditions.clockMs = ms
    const idle = this.on.stack.lambda.sandboxes.filter(({ state }) => state === 'idle')
    await Promise.all(idle.map((sandbox) => sandbox.end()))
  }

  /** A second Valkey, which the first knows nothing of. */
  async secondValkey(): Promise<ValkeyServer> {
    this.#secondValkey ??= await this.on.stack.lock.server?.second()
    if (this.#secondValkey === undefined) throw new Error('The faults need a Valkey of their own')
    return this.#secondValkey
  }

  /** Puts the servers right after a trial that broke off. */
  async restore(): Promise<void> {
    const { on } = this
    const { database, lock, lambda } = on.stack
    on.disarm()
    on.lockRelay.target = { host: lock.host, port: lock.port }
    on.lockRelay.cutAll()
    lambda.timeLimits.clear()
    this.onStatusEvent()
    await this.shiftClock(0)
    database.server?.thaw()
    lock.server?.thaw()
    if (database.server?.pid === undefined) await database.server?.restart()
    if (lock.server?.pid === undefined) await lock.server?.restart()
    await this.reconnect()
    await on.outside.query('set global read_only = off')
    await on.valkey.call('replicaof', 'no', 'one')
    await on.valkey.config('SET', 'maxmemory', '0')
    await on.valkey.flushall()
    for (const execution of on.stack.engine.executions()) if (execution.status === 'RUNNING') execution.stop()
    await Promise.all(lambda.sandboxes.map((sandbox) => sandbox.end()))
    await lambda.settled()
  }

  async stop(): Promise<void> {
    this.watch.stop()
    this.operator.close()
    await this.#secondValkey?.kill()
    await this.on.close()
  }
}
