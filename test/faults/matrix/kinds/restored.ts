import type { MysqlServer } from '../../../../local/servers/mysql.ts'
import type { Ended } from '../../../support/ended.ts'
import type { FaultTarget } from '../../../support/fault-target.ts'
import { answerOf } from '../../../support/faults.ts'
import { fingerprintOf } from '../../../support/invariants.ts'
import type { Statement } from '../../../support/relay.ts'
import type { ShareFile } from '../../../support/share-file.ts'
import type { TestSlice } from '../../../support/test-stack.ts'
import { atMost, type Fault, holdNext, orEnd, startAgain, type Trial } from '../fault.ts'
import type { Place } from '../moments.ts'

/*
 * MySQL is put back to an earlier moment under a run that goes on, as a restore to a point in time or a failover that
 * lost commits does it. What was recorded of the lost time is lost with it. Numbers of jobs are issued a second time. So
 * are fences where it is the same server, as behind a failover; where it is a new one, as RDS restores, the first fence is
 * above all that anybody has seen. From MarkRegistered's answer on a run has succeeded, and nobody can take that back: such
 * moments are not here.
 */

/** Until somebody who was frozen has done what he can: longer than the waits for a row's lock. */
const ACTING_MS = 12_000

const server = ({ on }: Trial): MysqlServer => {
  const { server } = on.stack.database
  if (server === undefined) throw new Error('The faults need a MySQL of their own')
  return server
}

const restore = async (trial: Trial, isNew = false): Promise<void> => {
  await server(trial).restore({ isNew })
  await trial.lab.reconnect()
}

/** The worker that was hit is paused meanwhile, and goes on in the middle of its work. */
const goOnAfterRestore: Pick<Fault, 'strike' | 'beside'> = {
  strike: (_, at) => at.freeze(),
  beside: async (trial, at) => await restore(trial).finally(() => at.thaw()),
}

const BEGUN = [
  ...['plan-delete', 'delete-chunk', 'delete-chunk-after-write', 'mark-deleted', 'begin-registering', 'register-chunk'],
  ...['register-chunk-after-write', 'mark-registered', 'halt-job'],
]

const toStart: Fault = {
  id: 'mysql-restored',
  title: 'MySQL restored to the moment before the run; the run goes on',
  takesBack: true,
  suits: ({ id }) => BEGUN.includes(id),
  prepare: async (trial) => await server(trial).snapshot(),
  ...goOnAfterRestore,
}

const COMMITTED = /^commit$/

/** Which commit of the run is the last that is kept: the job is the run's own still, and not as far as it thinks. */
const KEPT: Readonly<Record<string, { readonly task: string; readonly skip: number }>> = {
  'delete-chunk-after-write': { task: 'OpenJob', skip: 0 },
  'mark-deleted': { task: 'PlanDelete', skip: 0 },
  'begin-registering': { task: 'PlanDelete', skip: 0 },
  'register-chunk-after-write': { task: 'RegisterChunk', skip: 0 },
  'mark-registered': { task: 'RegisterChunk', skip: 2 },
  'halt-job': { task: 'RegisterChunk', skip: 0 },
}

const midway: Fault = {
  id: 'mysql-restored-midway',
  title: 'MySQL restored to an earlier moment of the run itself; the run goes on',
  takesBack: true,
  suits: ({ id }) => id in KEPT,
  prepare: async (trial) => {
    const kept = KEPT[trial.moment.id] ?? { task: 'OpenJob', skip: 0 }
    trial.on.relay.arm({ ...kept, sql: COMMITTED, moment: 'after', act: () => server(trial).snapshot() })
  },
  ...goOnAfterRestore,
}

const at = (sql: RegExp, when: Place['when'], skip: number): Place => ({ on: 'database', sql, when, skip })
const GUARD = /for share$/

/** Where the first run is frozen, and where the second one is held while the first goes on. */
const OVERTAKEN: Readonly<
  Record<string, { readonly first?: Place; readonly second: Place & { readonly task: string } }>
> = {
  'delete-chunk-after-write': { second: { task: 'DeleteChunk', ...at(GUARD, 'before', 0) } },
  'begin-registering': { second: { task: 'BeginRegistering', ...at(/for update$/, 'before', 0) } },
  'register-chunk-after-write': {
    first: at(/^load data/, 'after', 6),
    second: { task: 'RegisterChunk', ...at(GUARD, 'before', 1) },
  },
  // The same file again: what the first run counted is what the second one's job promises.
  'mark-registered': { second: { task: 'RegisterChunk', ...at(GUARD, 'before', 3) } },
  'halt-job': { second: { task: 'RegisterChunk', ...at(GUARD, 'before', 3) } },
}

/** The second run's file. */
const nextFile = async (trial: Trial): Promise<ShareFile | undefined> => {
  if (trial.moment.id === 'mark-registered') return trial.files[0]
  const file = trial.lab.newFile(250)
  trial.files.push(file)
  trial.request.source = await trial.on.stage(file, 25)
  return file
}

/** The first run goes on where the second one is held, and is waited for. */
const meet = async (trial: Trial, frozen: Statement | FaultTarget): Promise<string> => {
  const answered = answerOf(trial.on, frozen.pid)
  trial.lateCalls.push(answered)
  const { second } = OVERTAKEN[trial.moment.id] ?? {}
  if (second === undefined) throw new Error(`Nobody is overtaken at ${trial.moment.id}`)
  const reached = holdNext(trial, second, async () => {
    frozen.thaw()
    await atMost(ACTING_MS, answered)
  })
  // What is left of the first run may hold the lock for a moment.
  trial.request.onHeld = 'wait'
  const arn = await startAgain(trial)
  await orEnd(trial, arn, reached)
  frozen.thaw()
  return arn
}

/** The second run is the only one that MySQL knows: it ends well, and no other is told that it did. */
const expectSecond = async (trial: Trial, second: Ended, file: ShareFile | undefined): Promise<void> => {
  const { on, slice, arn, violations, files } = trial
  if (second.status !== 'SUCCEEDED')
    violations.push(`the run behind the restore was ended as ${second.error}: ${second.cause}`)
  const first = await on.ended(arn)
  const now = await fingerprintOf(on, slice)
  if (first.status === 'SUCCEEDED' && now !== files[0]?.fingerprint)
    violations.push("the run from before the restore succeeded over another run's rows")
  else if (second.status === 'SUCCEEDED' && first.status !== 'SUCCEEDED' && now !== file?.fingerprint)
    violations.push('the run behind the restore succeeded over rows that are not its own')
}

const overtaken: Fault = {
  id: 'mysql-restored-overtaken',
  title: 'MySQL restored to the moment before the run, another run under the same numbers meanwhile, the first goes on',
  takesBack: true,
  suits: ({ id }) => id in OVERTAKEN,
  place: ({ id, place }) => OVERTAKEN[id]?.first ?? place,
  prepare: async (trial) => await server(trial).snapshot(),
  strike: (_, frozen) => frozen.freeze(),
  beside: async (trial, frozen) => {
    await restore(trial)
    await trial.on.valkey.del(trial.on.lockKey(trial.slice))
    await goOnBeside(trial, frozen)
  },
}

const goOnBeside = async (trial: Trial, frozen: Statement | FaultTarget): Promise<void> => {
  const file = await nextFile(trial)
  await expectSecond(trial, await trial.on.ended(await meet(trial, frozen)), file)
}

type Told = {
  readonly slice?: TestSlice
  readonly job?: { readonly fence: number } | null
  readonly lock?: { readonly token: string }
}

/** The fences that the tasks of a run were told, which is what everybody else has from them. */
const fencesTold = ({ lab, slice }: Trial, run: string | undefined): number[] =>
  lab.calls
    .map(({ event }) => event as Told)
    .filter((told) => told.slice?.distributor === slice.distributor && told.slice.month === slice.month)
    .filter(({ lock }) => lock?.token.startsWith(`${run}/`))
    .flatMap(({ job }) => (job ? [job.fence] : []))

/** The restore as RDS does it. The bucket has the first run's files, and its execution goes on: both are newer than MySQL. */
const elsewhere: Fault = {
  ...overtaken,
  id: 'mysql-restored-elsewhere',
  title: 'MySQL restored as another server to the moment before the run, another run meanwhile, the first goes on',
  beside: async (trial, frozen) => {
    const before = fencesTold(trial, trial.runs.at(-1))
    await restore(trial, true)
    await trial.on.valkey.del(trial.on.lockKey(trial.slice))
    await goOnBeside(trial, frozen)
    const behind = fencesTold(trial, trial.runs.at(-1))
    if (before.length === 0 || behind.length === 0 || Math.min(...behind) <= Math.max(...before))
      trial.violations.push(`fences ${before} were told before the restore, and ${behind} behind it`)
  },
}

export const RESTORED_FAULTS: readonly Fault[] = [toStart, midway, overtaken, elsewhere]
