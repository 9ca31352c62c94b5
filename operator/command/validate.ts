import { type Command, Option } from 'commander'
import { count, counted } from '../../functions/contract/numbers.ts'
import {
  OVER_CLAIMS,
  type OverClaim,
  PARTY_SCHEMES,
  type PartyScheme,
  SUM_RULES,
  type SumRule,
} from '../../functions/contract/words.ts'
import type { Judging } from '../operations/check-source.ts'
import { OPERATION_ERRORS, OperationError } from '../operations/operation-error.ts'
import type { Validation } from '../operations/start-plan.ts'
import { acting, monthOf } from './command-context.ts'
import { FORMS, saveReport } from './report.ts'
import {
  ERRORS_SHOWN,
  formatText,
  ignoredLines,
  rejectionLines,
  summaryLines,
  warningLines,
} from './validation-text.ts'

type Options = {
  readonly sumRule: SumRule
  readonly partyScheme: PartyScheme
  readonly overClaim: OverClaim
  readonly errors: string
  readonly month?: string
  readonly strict?: boolean
  readonly report?: string
  readonly profile?: string
}

export const addValidate = (program: Command): void => {
  program
    .command('validate')
    .argument('<file>', 'a file as it is sent, packed or not')
    .summary('check a file by every rule; needs no AWS')
    .description(
      'Checks a file by every rule that a run would check it by, and says what is in it. It needs neither AWS nor a database, so a distributor can run it too.',
    )
    .addOption(
      new Option('--sum-rule <rule>', 'what the shares of a track sum to').choices(SUM_RULES).default('at-most'),
    )
    .addOption(new Option('--party-scheme <scheme>', 'what names a party').choices(PARTY_SCHEMES).default('opaque'))
    .addOption(
      new Option('--over-claim <rule>', 'what becomes of a track above 100').choices(OVER_CLAIMS).default('refuse'),
    )
    .option(
      '--profile <file>',
      "how the distributor's files are written, as JSON; without it the file is canonical CSV",
    )
    .option('--errors <count>', 'errors to show', String(ERRORS_SHOWN))
    .option('-m, --month <month>', 'the month that the file is for: a column that names another one is a warning')
    .option('--strict', 'refuse a file with warnings')
    .option('--report <path>', 'write errors and warnings to a new file that ends with .csv, .html or .json')
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock validate shares.csv\n  sharelock validate shares.csv.gz --sum-rule exact --party-scheme ipi\n  sharelock validate 정산.xlsx --profile aria.json',
    )
    .action(
      acting(async ({ out }, file: string, options: Options) => {
        const { errors, month, strict, report } = options
        if (!/^\d{1,3}$/.test(errors)) throw new OperationError('Usage', '--errors is a number up to 999.')
        const forMonth = month === undefined ? undefined : monthOf(month)
        const { validatePath } = await import('../operations/validate.ts')
        const onRows = (rows: number) => out.draw(`${file}: ${count(rows)} rows read`)
        const validation = await validatePath(file, { ...(await judgingOf(options)), month: forMonth }, onRows)
        if (report !== undefined) await writeLocalReport(report, file, forMonth, validation)
        out.document({ file, ...validation })
        const { rejection, warnings } = validation
        if (rejection === null) {
          const isRefused = strict === true && warnings.length > 0
          const verdict = isRefused ? out.style('red', 'refused, it has warnings') : out.style('green', 'accepted')
          out.answer(`${file}: ${verdict}`, ...summaryLines(validation), ...warningLines(out, warnings))
          return isRefused ? OPERATION_ERRORS.Rejected : 0
        }
        const problem = out.style('red', `refused, ${counted(rejection.total, 'error')}`)
        out.answer(
          `${file} (${formatText(validation)}): ${problem}`,
          ...rejectionLines(rejection, Number(errors)),
          ...ignoredLines(validation),
        )
        return OPERATION_ERRORS.Rejected
      }),
    )
}

/** What a distributor knows of its own files: the rules, and how they are written. */
const judgingOf = async ({ sumRule, partyScheme, overClaim, profile }: Options): Promise<Judging> => {
  const rules = { sumRule, partyScheme, overClaim }
  if (profile === undefined) return { rules }
  const { readProfile } = await import('../operations/profile-file.ts')
  return { rules, profile: await readProfile(profile) }
}

/** The report of a file that no run ever read. */
const writeLocalReport = async (path: string, file: string, month: string | undefined, validation: Validation) => {
  const form = FORMS.find((each) => path.endsWith(`.${each}`))
  if (form === undefined) throw new OperationError('Usage', '--report is a path that ends with .csv, .html or .json.')
  const { localReport } = await import('../operations/local-report.ts')
  const { reportText } = await import('../../functions/job/staging/report/report-text.ts')
  const slice = { distributor: '', month: month ?? '' }
  await saveReport(path, reportText(form, localReport(file, slice, validation, validation.warnings)))
}
