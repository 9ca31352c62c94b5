import { join } from 'node:path'
import { count } from '../functions/contract/numbers.ts'
import type { Slice } from '../functions/contract/words.ts'
import { correct, generateTracks } from '../local/generate.ts'
import { OperationError } from '../operator/operations/operation-error.ts'
import type { Progress } from '../operator/operations/progress.ts'
import { phaseOf } from '../operator/operations/speed.ts'
import type { StartPlan } from '../operator/operations/start-plan.ts'
import { addDistributor, checkRegistered, checkSlice, type Day, startPlanned } from './day.ts'
import { type ExpectedFile, uploadKey, writeFile } from './files.ts'
import { follow } from './follow.ts'
import { loadOldRows } from './old-rows.ts'
import type { DayOptions } from './options.ts'

const OLD_SEED = 7
const NEIGHBOUR_SEED = 11
const FILE_SEED = 42
const SMALL_SEED = 43

/** Rows of the file that an operator has in hand when the schedule starts: checked at once. */
const SMALL_ROWS = 1_000

/** Rows of the slice next to the one that is replaced; it must not change. */
const neighbourRows = (rows: number): number => Math.min(rows, 50_000)

/** The worker is killed once this share of the chunks' rows is registered. */
const KILL_AFTER_SHARE = 0.25

/** A settlement day with generated data. Each part adds its figures and checks to the day. */
export const settlementDay = async (day: Day, options: DayOptions, say: (line: string) => void): Promise<void> => {
  const { rows, month } = options
  const aria = await addDistributor(day, { code: 'ARIA', sumRule: 'exact', partyScheme: 'opaque' }, month)
  const bora = await addDistributor(day, { code: 'BORA', sumRule: 'at-most', partyScheme: 'opaque' }, month)
  say(`Generating ${count(rows)} old rows of ARIA ${month}, its new file, and a neighbour, BORA ${month} ...`)
  const tracks = () => generateTracks({ rows, seed: FILE_SEED, month })
  const path = (name: string) => join(day.folder, name)
  const [, untouched, file, corrected, small] = await Promise.all([
    loadOldRows(day.stack.database.masterAddress, aria, rows, OLD_SEED),
    loadOldRows(day.stack.database.masterAddress, bora, neighbourRows(rows), NEIGHBOUR_SEED),
    writeFile(path('file.csv'), tracks()),
    writeFile(path('corrected.csv'), correct(tracks())),
    writeFile(path('small.csv'), generateTracks({ rows: SMALL_ROWS, seed: SMALL_SEED, month })),
  ])

  await scheduledRun(day, aria, file, small, say)
  await correctedRun(day, aria, corrected, say)
  await checkSlice(day, bora, untouched, 'the neighbour BORA was not touched')
}

/** How the operator's start ended that came while another run was at work. */
const refusalOf = async (day: Day, plan: StartPlan): Promise<string> => {
  try {
    return `it was not refused: ${await startPlanned(day, plan, 'a small file')}`
  } catch (error) {
    if (error instanceof OperationError) return `${error.name}: ${error.message}`
    throw error
  }
}

/** Kills a worker that registers. @returns its process id; undefined where none is busy */
const killWorker = ({ stack }: Day): number | undefined => {
  const victim = stack.lambda.sandboxes.find(({ fn, state }) => fn.name === 'RegisterChunk' && state === 'busy')
  if (victim?.pid !== undefined) process.kill(victim.pid, 'SIGKILL')
  return victim?.pid
}

/**
 * The schedule starts the month. In the middle of it an operator wants to start what was planned before, and a program
 * starts a run past the operator's command: both are refused. A worker dies; the run completes.
 */
const scheduledRun = async (
  day: Day,
  slice: Slice,
  file: ExpectedFile,
  small: ExpectedFile,
  say: (line: string) => void,
): Promise<void> => {
  const { sdk, operations, checks } = day
  const { distributor, month } = slice
  const plan = await operations.planStart({ distributor, month }, { path: small.path })
  const key = uploadKey(distributor, month, file.path)
  await sdk.upload(key, file.path)
  say(`\nThe schedule starts ${distributor} ${month}:`)
  const name = `${distributor}-${month}-scheduled`
  const source = { key }
  const scheduled = await sdk.start(name, { distributor, month, source, onHeld: 'wait', requestedBy: 'schedule' })

  let operator: Promise<string> | undefined
  let program: Promise<string> | undefined
  let killed: number | undefined
  const onLook = ({ job }: Progress): void => {
    if (job === null) return
    operator ??= refusalOf(day, plan)
    // It names the same staged source: staging a file again would take longer than this run.
    const staged = { distributor, month, source: { staged: job.source.digest }, requestedBy: 'a program' }
    program ??= sdk.start(`${distributor}-${month}-program`, staged)
    const { rowsMarked = 0, rows = 0 } = phaseOf(job) ?? {}
    if (job.state === 'REGISTERING' && rows > 0 && rowsMarked >= rows * KILL_AFTER_SHARE) killed ??= killWorker(day)
  }
  const end = await follow(operations, scheduled, onLook)
  if (killed === undefined) say('  no worker was busy long enough to be killed; try more rows')
  else say(`  the worker with process id ${killed} was killed in mid-register; its chunks were run again`)

  const refusal = (await operator) ?? 'there was none'
  say(`  the operator's start of the same month: ${refusal}`)
  const past = program && (await lastLook(day, await program))
  say(`  a program's start of the same month: ${past?.failure?.error}: ${past?.failure?.cause}`)
  await checkRegistered(day, end, 'schedule', 'the scheduled run is REGISTERED')
  checks.push(
    {
      what: "the operator's start in between changed nothing and was told the holder",
      holds: refusal.startsWith('Busy: ') && refusal.includes(name),
    },
    {
      what: "the program's start in between was refused by the lock and told its holder",
      holds: past?.failure?.error === 'LockHeld' && past.failure.cause.includes(name),
    },
  )
  await checkSlice(day, slice, file.fingerprint, "the month holds exactly the schedule's file")
}

const lastLook = async ({ operations }: Day, executionArn: string): Promise<Progress | undefined> => {
  let last: Progress | undefined
  for await (const progress of operations.watch(executionArn)) last = progress
  return last
}

const correctedRun = async (day: Day, slice: Slice, file: ExpectedFile, say: (line: string) => void) => {
  const { distributor, month } = slice
  say(`\nThe distributor sent a corrected file; an operator checks it:`)
  const plan = await day.operations.planStart({ distributor, month }, { path: file.path })
  const { added, removed, changed, unchanged } = plan.difference
  say(
    `  ${count(added)} rows added, ${count(removed)} removed, ${count(changed)} changed, ${count(unchanged)} unchanged`,
  )
  say('and registers it:')
  const end = await follow(day.operations, await startPlanned(day, plan, 'a corrected file'))
  await checkRegistered(day, end, 'corrected', 'the corrected run is REGISTERED')
  await checkSlice(day, slice, file.fingerprint, 'the month holds exactly the corrected file')
}
