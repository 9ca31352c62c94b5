import { type Command, Option } from 'commander'
import { count, counted } from '../../functions/contract/numbers.ts'
import { PARTY_SCHEMES, type PartyScheme, SUM_RULES, type SumRule } from '../../functions/contract/words.ts'
import { OPERATION_ERRORS, OperationError } from '../operations/operation-error.ts'
import { acting } from './command-context.ts'
import { ERRORS_SHOWN, formatText, ignoredLines, rejectionLines, summaryLines } from './validation-text.ts'

type Options = { readonly sumRule: SumRule; readonly partyScheme: PartyScheme; readonly errors: string }

export const addValidate = (program: Command): void => {
  program
    .command('validate')
    .argument('<file>', 'a CSV file, gzip or not')
    .summary('check a file by every rule; needs no AWS')
    .description(
      'Checks a file by every rule that a run would check it by, and says what is in it. It needs neither AWS nor a database, so a distributor can run it too.',
    )
    .addOption(
      new Option('--sum-rule <rule>', 'what the shares of a track sum to').choices(SUM_RULES).default('at-most'),
    )
    .addOption(new Option('--party-scheme <scheme>', 'what names a party').choices(PARTY_SCHEMES).default('opaque'))
    .option('--errors <count>', 'errors to show', String(ERRORS_SHOWN))
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock validate shares.csv\n  sharelock validate shares.csv.gz --sum-rule exact --party-scheme ipi',
    )
    .action(
      acting(async ({ out }, file: string, { errors, ...rules }: Options) => {
        if (!/^\d{1,3}$/.test(errors)) throw new OperationError('Usage', '--errors is a number up to 999.')
        const { validatePath } = await import('../operations/validate.ts')
        const validation = await validatePath(file, { rules }, (rows) => out.draw(`${file}: ${count(rows)} rows read`))
        out.document({ file, ...validation })
        const { rejection } = validation
        if (rejection === null) {
          out.answer(`${file}: ${out.style('green', 'accepted')}`, ...summaryLines(validation))
          return 0
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
