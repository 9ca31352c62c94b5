import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Slice } from '../functions/contract/words.ts'
import { type Distributor, findDistributor, putDistributor } from '../functions/store/distributor.ts'
import { Database } from '../functions/store/mysql/database.ts'
import { type Fingerprint, sliceFingerprint } from '../local/fingerprint.ts'
import type { Stack } from '../local/stack.ts'
import { jobFigures, metricValues } from './figures.ts'
import { Operator } from './operator.ts'
import type { Check, RunFigures } from './report.ts'

/** What a day works with, and what it has seen so far. */
export type Setting = {
  readonly stack: Stack
  readonly operator: Operator
  readonly database: Database
  /** For generated files. */
  readonly folder: string
  readonly runs: RunFigures[]
  readonly checks: Check[]
}

export const openSetting = async (stack: Stack): Promise<Setting> => {
  const folder = join(stack.folder, 'files')
  await mkdir(folder, { recursive: true })
  const database = new Database(stack.database.masterAddress)
  return { stack, operator: new Operator(stack), database, folder, runs: [], checks: [] }
}

export const closeSetting = async (setting: Setting): Promise<void> => {
  setting.operator.close()
  await setting.database.close()
}

export const addDistributor = async (
  { database }: Setting,
  distributor: Omit<Distributor, 'id' | 'active' | 'name'>,
  month: string,
): Promise<Slice> => {
  await putDistributor(database, { ...distributor, name: distributor.code, active: true })
  const { id, code } = await findDistributor(database, distributor.code)
  return { distributorId: id, distributor: code, month }
}

/** Compares a slice in MySQL with what it has to hold, to the last row. */
export const checkSlice = async (
  setting: Setting,
  slice: Slice,
  expected: Fingerprint,
  what: string,
): Promise<void> => {
  const found = await sliceFingerprint(setting.stack.database.masterAddress, slice.distributor, slice.month)
  const holds = String(found) === String(expected)
  const detail = holds ? `${found.rows.toLocaleString('en-US')} rows` : `expected ${expected}, found ${found}`
  setting.checks.push({ what, holds, detail })
}

/** The newest job of a slice; 0 before the first. */
export const newestJobId = async ({ database }: Setting, slice: Slice): Promise<number> => {
  const [row] = await database.rows<{ id: number }>(
    'select coalesce(max(id), 0) as id from job where distributor_id = ? and settlement_month = ?',
    [slice.distributorId, `${slice.month}-01`],
  )
  return row?.id ?? 0
}

export const addRun = async (setting: Setting, name: string, slice: Slice, executionArn: string): Promise<void> => {
  const job = await newestJobId(setting, slice)
  setting.runs.push({ name, ...(await jobFigures(setting.database, setting.operator, job, executionArn)) })
}

/** The two figures that no table of the database has: the longest chunk transaction, and writes the fence refused. */
export const logFigures = async ({ stack }: Setting): Promise<{ longestChunkMs: number; refusedWrites: number }> => {
  const durations = await metricValues(stack.logsFolder, 'chunk.duration')
  const refused = await metricValues(stack.logsFolder, 'fence.rejected')
  return {
    longestChunkMs: durations.reduce((longest, value) => Math.max(longest, value), 0),
    refusedWrites: refused.reduce((sum, value) => sum + value, 0),
  }
}
