import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { closeSetting, openSetting, type Setting } from '../../demo/setting.ts'
import { monthDate, type Slice } from '../../functions/contract/words.ts'
import { insertJob } from '../../functions/store/job/fence.ts'
import { transaction } from '../../functions/store/mysql/transaction.ts'
import { ensureBorders, planRanges } from '../../functions/store/share-ratio.ts'
import { generateRatios } from '../../local/generate.ts'
import { type Stack, startStack } from '../../local/stack.ts'
import { bareDeleteMs, bareRegisterMs, LANES } from './floor.ts'
import { hostLanes } from './lanes.ts'
import { packageVersion } from './machine.ts'
import { forgetTransactions, longestTransactionMs, serverFacts, settle } from './server.ts'
import type { Sizes } from './settings.ts'
import { RULES, type StagedFile, stageFile } from './staged-file.ts'

export type Say = (line: string) => void

/** One local stack with settled slices in the table, below and above the ones that are measured. */
export type Testbed = {
  readonly sizes: Sizes
  readonly say: Say
  readonly stack: Stack
  readonly setting: Setting
  readonly neighbours: readonly Slice[]
  readonly settings: Readonly<Record<string, string>>
  /** Generated files by their number of rows. */
  readonly files: Map<number, Promise<string>>
  /** Slices that Sharelock has registered, by their number. */
  readonly registered: Map<number, Registered>
}

/** A slice that Sharelock registered from a file, so that every further run deletes and loads the same rows. */
export type Registered = { readonly slice: Slice; readonly rows: number; readonly digest: string }

const MONTH = '2026-10'

/** Ids of distributors: neighbours are on both sides of the measured ones in the clustered key. */
const BELOW = 1_000
const MEASURED = 2_000
const ABOVE = 9_000

const addSlice = async ({ database }: Setting, code: string, id: number): Promise<Slice> => {
  await database.change(
    `insert ignore into distributor (id, code, name, active, sum_rule, party_scheme) values (?, ?, ?, true, ?, ?)`,
    [id, code, code, RULES.sumRule, RULES.partyScheme],
  )
  return { distributorId: id, distributor: code, month: MONTH }
}

/** A slice to measure on, number 1 to 99; the same slice for the same number. */
export const measuredSlice = (testbed: Testbed, number: number): Promise<Slice> =>
  addSlice(testbed.setting, `M${number}`, MEASURED + number)

/** A generated file of that many rows; made once. */
export const fileOf = (testbed: Pick<Testbed, 'files' | 'setting'>, rows: number): Promise<string> => {
  const made = testbed.files.get(rows)
  if (made !== undefined) return made
  const path = join(testbed.setting.folder, `${rows}.csv`)
  const making = pipeline(generateRatios({ rows, seed: 5 }), createWriteStream(path)).then(() => path)
  testbed.files.set(rows, making)
  return making
}

/** Registers a slice behind the system's back, with the job row that readers look for. */
const settleNeighbour = async (testbed: Testbed, slice: Slice, staged: StagedFile): Promise<void> => {
  await bareRegisterMs(testbed.stack, slice, staged)
  const { digest, rows, shareSum, chunks } = staged.manifest
  const opener = {
    token: 'bench/harness/neighbour',
    execution: 'bench',
    life: { startedMs: 0, redrives: 0 },
    requestedBy: 'bench',
    staged: { digest, rows, shareSum, chunks: chunks.length },
    undo: false,
  }
  const place = { slot: 0, reusesSet: false } as const
  const { id } = await transaction(testbed.setting.database, async (tx) => {
    await ensureBorders(tx, slice)
    return await insertJob(tx, slice, undefined, opener, place)
  })
  await testbed.setting.database.change(`update job set state = 'REGISTERED' where id = ?`, [id])
  await testbed.setting.database.change('replace into active_set values (?, ?, 0, ?)', [
    slice.distributorId,
    monthDate(slice.month),
    id,
  ])
}

export const openTestbed = async (sizes: Sizes, say: Say): Promise<Testbed> => {
  say(`starting a stack, and filling ${sizes.neighbours} slices of ${sizes.neighbourRows} rows`)
  // Without TLS for all: most peers would speak it by default, and on loopback it is only work.
  const stack = await startStack({ say, mysql: { extra: ['--tls-version='] } })
  try {
    hostLanes(stack, LANES)
    const setting = await openSetting(stack)
    const facts = await serverFacts(setting.database)
    const half = Math.ceil(sizes.neighbours / 2)
    const neighbours: Slice[] = []
    for (let place = 0; place < sizes.neighbours; place += 1)
      neighbours.push(await addSlice(setting, `N${place + 1}`, place < half ? BELOW + place : ABOVE + place))
    const settings = {
      MySQL: facts.version,
      mysql2: packageVersion('mysql2'),
      ...facts.settings,
      neighbours: `${sizes.neighbours} x ${sizes.neighbourRows.toLocaleString('en-US')} rows`,
    }
    const testbed: Testbed = {
      sizes,
      say,
      stack,
      setting,
      neighbours,
      settings,
      files: new Map(),
      registered: new Map(),
    }
    const staged = await stageFile(await fileOf(testbed, sizes.neighbourRows))
    for (const slice of neighbours) await settleNeighbour(testbed, slice, staged)
    return testbed
  } catch (error) {
    await stack.stop()
    throw error
  }
}

export const closeTestbed = async ({ setting, stack }: Testbed): Promise<void> => {
  await closeSetting(setting)
  await stack.stop()
}

/** Empties a slice behind the system's back; by ranges, so that it never walks over what it deleted. */
export const emptySlice = async ({ setting: { database } }: Testbed, slice: Slice): Promise<void> => {
  for (const { from_isrc, before_isrc } of await planRanges(database, { ...slice, slot: 0 }))
    await database.change(
      `delete from share_ratio where distributor_id = ? and settlement_month = ? and slot = 0 and isrc > ''
         and isrc >= ? and isrc < ?`,
      [slice.distributorId, monthDate(slice.month), from_isrc, before_isrc ?? '['],
    )
}

/** Calm server, counters at zero: what precedes every measurement. */
export const ready = async ({ setting: { database } }: Testbed): Promise<void> => {
  await settle(database)
  await forgetTransactions(database)
}

/** The slice that the floor works on, filled with the same rows. */
export const fillFloor = async (testbed: Testbed, staged: StagedFile): Promise<Slice> => {
  const slice = await measuredSlice(testbed, 2)
  await emptySlice(testbed, slice)
  await bareRegisterMs(testbed.stack, slice, staged)
  return slice
}

/** One delete and one load of a slice, and the longest transaction of each, in milliseconds. */
export type Times = {
  readonly deleteMs: number
  readonly registerMs: number
  readonly longestDeleteMs: number
  readonly longestRegisterMs: number
}

/**
 * The floor of the same job: delete a full slice, then load it, so that MySQL purges deleted rows behind the load
 * exactly as it does behind Sharelock's. The slice must be full.
 */
export const floorTimes = async (
  testbed: Testbed,
  slice: Slice,
  staged: StagedFile,
  lanes?: number,
): Promise<Times> => {
  const { stack, setting } = testbed
  const longest = () => longestTransactionMs(setting.database, stack.database.app.user)
  await ready(testbed)
  const deleteMs = await bareDeleteMs(stack, slice, staged, lanes)
  const longestDeleteMs = await longest()
  await forgetTransactions(setting.database)
  const registerMs = await bareRegisterMs(stack, slice, staged, lanes)
  return { deleteMs, registerMs, longestDeleteMs, longestRegisterMs: await longest() }
}
