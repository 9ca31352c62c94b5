import { access, constants } from 'node:fs/promises'
import { rejectKey, sentenceOf } from '../functions/contract/execution.ts'
import type { FailureName } from '../functions/contract/failure-table.ts'
import type { Rejection } from '../functions/contract/source-rules.ts'
import { readFingerprint, uploadKey } from './files.ts'
import { loadOldRows } from './old-rows.ts'
import type { DayOptions } from './options.ts'
import { watch } from './progress.ts'
import { addDistributor, addRun, checkSlice, type Setting } from './setting.ts'

const OLD_SEED = 7

const place = (line: number | null, column: number | null): string =>
  [line === null ? '' : `line ${line}`, column === null ? '' : `column ${column}`]
    .filter((part) => part !== '')
    .join(', ')

/** Asked before anything is started. */
export const requireReadable = async (file: string): Promise<void> => {
  await access(file, constants.R_OK).catch(() => {
    throw new Error(
      `The file ${file} cannot be read. Give the path of a CSV file, relative to this folder or absolute.`,
    )
  })
}

/**
 * Registers the user's own file over generated old rows, or shows why it was rejected and that the old rows are still
 * there.
 */
export const ownFile = async (
  setting: Setting,
  options: DayOptions & { file: string },
  say: (line: string) => void,
): Promise<void> => {
  const { operator, database, stack } = setting
  const { distributor: code, month, file, sumRule, partyScheme, rows } = options
  const slice = await addDistributor(setting, { code, sumRule, partyScheme }, month)
  say(`Generating ${rows.toLocaleString('en-US')} old rows of ${code} ${month}, for your file to replace ...`)
  const old = await loadOldRows(stack.database.masterAddress, slice, rows, OLD_SEED)
  const key = uploadKey(code, month, file)
  await operator.upload(key, file)
  say(`\nRegistering ${file}:`)
  const executionArn = await operator.start(`${code}-${month}-own-file`, {
    distributor: code,
    month,
    source: { key },
    requestedBy: 'operator',
  })
  const execution = await watch(database, slice, 0, operator.end(executionArn))
  if (execution.status === 'SUCCEEDED') {
    await checkSlice(setting, slice, await readFingerprint(file), 'the month holds exactly your file')
    await addRun(setting, 'your file', slice, executionArn)
    return
  }
  setting.checks.push({ what: `your file was not registered (${execution.error}): see the report above`, holds: false })
  await checkSlice(setting, slice, old, 'the old rows were left alone')
  if (execution.error === ('SourceRejected' satisfies FailureName))
    await showReport(setting, rejectKey(slice, executionArn), say)
  else say(`\n${sentenceOf(execution.cause)}`)
}

const showReport = async ({ operator }: Setting, key: string, say: (line: string) => void): Promise<void> => {
  const report = JSON.parse(await operator.readText(key)) as Rejection
  say(`\nThe file was rejected with ${report.total} errors; nothing was changed. The first ${report.errors.length}:\n`)
  for (const { line, column, rule, message } of report.errors)
    say(`  ${place(line, column).padEnd(24)}  ${message}  [${rule}]`)
  say('\nFix these lines and start again.')
}
