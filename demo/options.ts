import { Command, InvalidArgumentError, Option } from 'commander'
import { DistributorCode, Month } from '../functions/contract/messages.ts'
import { lastMonth } from '../functions/contract/months.ts'
import { PARTY_SCHEMES, type PartyScheme, SUM_RULES, type SumRule } from '../functions/contract/words.ts'

export type DayOptions = {
  readonly rows: number
  readonly month: string
  readonly file: string | undefined
  readonly distributor: string
  readonly sumRule: SumRule
  readonly partyScheme: PartyScheme
  readonly keep: boolean
}

/** Rows unless others are asked for: of the generated file, and of what a file of the user's own replaces. */
const DAY_ROWS = 800_000
const OLD_ROWS = 100_000

/** Rows one run may generate: more needs more memory and disk than a laptop likes to give. */
const ROWS_MAX = 20_000_000

const rowCount = (text: string): number => {
  const rows = Number(text.replaceAll('_', ''))
  if (!Number.isInteger(rows) || rows < 100 || rows > ROWS_MAX)
    throw new InvalidArgumentError(`it is a whole number from 100 to ${ROWS_MAX}`)
  return rows
}

const checked = (schema: typeof Month) => (text: string) => {
  const result = schema.safeParse(text)
  if (!result.success) throw new InvalidArgumentError(result.error.issues[0]?.message ?? '')
  return result.data
}

/** Reads the command line; prints help or what is wrong with an option and ends. */
export const readOptions = (argv: readonly string[]): DayOptions => {
  const command = new Command('npm start --')
    .description(
      `Replaces a month of share ratios on this machine, through the real state machine, on real MySQL and Valkey.

Without --file it plays a settlement day with generated data: the schedule starts the month, an operator starts the same distributor in the middle of it and is refused, a worker is killed and the run completes, and a corrected file is registered after it. With --file it registers your file over generated old rows.

It exits with 0 if the files were registered and every row in the database is exactly right; with 1 if a check failed or your file was refused.`,
    )
    .option(
      '--rows <n>',
      `rows to generate: the file and the old rows it replaces (default: ${DAY_ROWS}; with --file ${OLD_ROWS} old rows)`,
      rowCount,
    )
    .option('--file <path>', 'your own CSV file (see "The file" in the README)')
    .option('--distributor <code>', 'the code your file is registered under', checked(DistributorCode), 'ARIA')
    .option('--month <YYYY-MM>', 'the settlement month', checked(Month), lastMonth())
    .addOption(new Option('--sum-rule <rule>', "your distributor's sum rule").choices(SUM_RULES).default('at-most'))
    .addOption(
      new Option('--party-scheme <scheme>', "your distributor's party ids").choices(PARTY_SCHEMES).default('opaque'),
    )
    .option('--keep', 'keep the data and the logs, and say where they are', false)
    .addHelpText(
      'after',
      `
Examples:
  npm start                                                      a settlement day with 800,000 rows
  npm start -- --rows 50_000                                     the same, smaller
  npm start -- --file shares.csv --distributor ARIA --month 2026-10`,
    )
    .parse(argv as string[])
  const options = command.opts<DayOptions>()
  return { ...options, rows: options.rows ?? (options.file === undefined ? DAY_ROWS : OLD_ROWS) }
}
