import { access, constants } from 'node:fs/promises'
import { count, counted } from '../functions/contract/numbers.ts'
import { lineAndColumn, type Rejection } from '../functions/contract/source-refusals.ts'
import { table } from '../operator/format/table.ts'
import { addDistributor, checkRegistered, checkSlice, type Day, startPlanned } from './day.ts'
import { readFingerprint } from './files.ts'
import { follow } from './follow.ts'
import { loadOldRows } from './old-rows.ts'
import type { DayOptions } from './options.ts'

const OLD_SEED = 7

/** Asked before anything is started. */
export const requireReadable = async (file: string): Promise<void> => {
  await access(file, constants.R_OK).catch(() => {
    throw new Error(
      `The file ${file} cannot be read. Give the path of a CSV file, relative to this folder or absolute.`,
    )
  })
}

/** Registers the user's own file over generated old rows, or shows why it is refused and that the old rows are as before. */
export const ownFile = async (
  day: Day,
  options: DayOptions & { file: string },
  say: (line: string) => void,
): Promise<void> => {
  const { distributor: code, month, file, sumRule, partyScheme, rows } = options
  const slice = await addDistributor(day, { code, sumRule, partyScheme }, month)
  say(`Generating ${count(rows)} old rows of ${code} ${month}, for your file to replace ...`)
  const old = await loadOldRows(day.stack.database.masterAddress, slice, rows, OLD_SEED)
  say(`\nRegistering ${file}:`)
  const plan = await day.operations.planStart({ distributor: code, month }, { path: file })
  const { rejection } = plan.validation
  if (rejection === null) {
    const end = await follow(day.operations, await startPlanned(day, plan, 'npm start'))
    await checkRegistered(day, end, 'your file', 'your file is REGISTERED')
    const expected = end.failure === null ? await readFingerprint(file) : old
    const what = end.failure === null ? 'the month holds exactly your file' : 'the old rows were left alone'
    await checkSlice(day, slice, expected, what)
    return
  }
  for (const line of rejectionLines(rejection)) say(line)
  day.checks.push({ what: 'your file was not registered: see its errors above', holds: false })
  await checkSlice(day, slice, old, 'the old rows were left alone')
}

const rejectionLines = ({ total, errors }: Rejection): string[] => [
  `\nThe file is refused with ${counted(total, 'error')}; nothing was changed. The first ${count(errors.length)}:\n`,
  ...table(errors.map((error) => [`  ${lineAndColumn(error)}`, `${error.message}  [${error.rule}]`])),
  '\nFix these lines and start again.',
]
