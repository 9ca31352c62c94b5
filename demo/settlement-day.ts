import { join } from 'node:path'
import { sentenceOf } from '../functions/contract/execution.ts'
import type { Slice } from '../functions/contract/words.ts'
import { correct, generateTracks } from '../local/generate.ts'
import { type ExpectedFile, uploadKey, writeFile } from './files.ts'
import { loadOldRows } from './old-rows.ts'
import type { DayOptions } from './options.ts'
import { type Progress, watch } from './progress.ts'
import { addDistributor, addRun, checkSlice, newestJobId, type Setting } from './setting.ts'

const OLD_SEED = 7
const NEIGHBOUR_SEED = 11
const FILE_SEED = 42

/** Rows of the slice next to the one that is replaced; it must not change. */
const neighbourRows = (rows: number): number => Math.min(rows, 50_000)

/** The worker is killed once this share of the chunks' rows is registered. */
const KILL_AFTER_SHARE = 0.25

/** A settlement day with generated data. Each part adds its figures and checks to the setting. */
export const settlementDay = async (
  setting: Setting,
  options: DayOptions,
  say: (line: string) => void,
): Promise<void> => {
  const { rows, month } = options
  const aria = await addDistributor(setting, { code: 'ARIA', sumRule: 'exact', partyScheme: 'opaque' }, month)
  const bora = await addDistributor(setting, { code: 'BORA', sumRule: 'at-most', partyScheme: 'opaque' }, month)
  say(
    `Generating ${rows.toLocaleString('en-US')} old rows of ARIA ${month}, its new file, and a neighbour, BORA ${month} ...`,
  )
  const tracks = () => generateTracks({ rows, seed: FILE_SEED, month })
  const path = (name: string) => join(setting.folder, name)
  const [, untouched, file, corrected] = await Promise.all([
    loadOldRows(setting.stack.database.masterAddress, aria, rows, OLD_SEED),
    loadOldRows(setting.stack.database.masterAddress, bora, neighbourRows(rows), NEIGHBOUR_SEED),
    writeFile(path('file.csv'), tracks()),
    writeFile(path('corrected.csv'), correct(tracks())),
  ])

  await scheduledRun(setting, aria, file, say)
  await correctedRun(setting, aria, corrected, say)
  await checkSlice(setting, bora, untouched, 'the neighbour BORA was not touched')
}

/** The schedule starts the month; an operator comes in between and is refused; a worker dies; the run completes. */
const scheduledRun = async (setting: Setting, slice: Slice, file: ExpectedFile, say: (line: string) => void) => {
  const { operator, stack, database } = setting
  const key = uploadKey(slice.distributor, slice.month, file.path)
  await operator.upload(key, file.path)
  say(`\nThe schedule starts ${slice.distributor} ${slice.month}:`)
  const name = `${slice.distributor}-${slice.month}-scheduled`
  const scheduled = await operator.start(name, {
    ...{ distributor: slice.distributor, month: slice.month, source: { key } },
    ...{ onHeld: 'wait', requestedBy: 'schedule' },
  })

  let second: Promise<string> | undefined
  let killed: number | undefined
  const onProgress = (progress: Progress) => {
    // The operator names the same staged source: staging a file again would take longer than this run.
    second ??= operator.start(`${slice.distributor}-${slice.month}-operator`, {
      ...{ distributor: slice.distributor, month: slice.month, source: { staged: progress.source } },
      requestedBy: 'operator',
    })
    if (killed !== undefined || progress.state !== 'REGISTERING') return
    if (progress.markedRows < progress.rows * KILL_AFTER_SHARE) return
    const victim = stack.lambda.sandboxes.find(({ fn, state }) => fn.name === 'RegisterChunk' && state === 'busy')
    if (victim?.pid === undefined) return
    process.kill(victim.pid, 'SIGKILL')
    killed = victim.pid
  }
  const execution = await watch(database, slice, 0, operator.end(scheduled), onProgress)
  if (killed === undefined) say('  no worker was busy long enough to be killed; try more rows')
  else say(`  the worker with process id ${killed} was killed in mid-register; its chunks were run again`)

  const refused = second === undefined ? undefined : await operator.end(await second)
  if (refused !== undefined)
    say(`  the operator's start of the same month: ${refused.error ?? refused.status}. ${sentenceOf(refused.cause)}`)
  const registered = execution.status === 'SUCCEEDED'
  setting.checks.push(
    {
      what: 'the scheduled run is REGISTERED',
      holds: registered,
      ...(registered ? {} : { detail: sentenceOf(execution.cause) }),
    },
    {
      what: "the operator's start in between changed nothing and was told the holder",
      holds: refused?.error === 'LockHeld' && sentenceOf(refused.cause).includes(name),
    },
  )
  await checkSlice(setting, slice, file.fingerprint, "the month holds exactly the schedule's file")
  if (registered) await addRun(setting, 'schedule', slice, scheduled)
}

const correctedRun = async (setting: Setting, slice: Slice, file: ExpectedFile, say: (line: string) => void) => {
  const { operator, database } = setting
  const key = uploadKey(slice.distributor, slice.month, file.path)
  await operator.upload(key, file.path)
  say(`\nThe distributor sent a corrected file; an operator registers it:`)
  const before = await newestJobId(setting, slice)
  const executionArn = await operator.start(`${slice.distributor}-${slice.month}-corrected`, {
    ...{ distributor: slice.distributor, month: slice.month, source: { key } },
    requestedBy: 'operator',
  })
  const execution = await watch(database, slice, before, operator.end(executionArn))
  const registered = execution.status === 'SUCCEEDED'
  setting.checks.push({
    what: 'the corrected run is REGISTERED',
    holds: registered,
    ...(registered ? {} : { detail: sentenceOf(execution.cause) }),
  })
  await checkSlice(setting, slice, file.fingerprint, 'the month holds exactly the corrected file')
  if (registered) await addRun(setting, 'corrected', slice, executionArn)
}
