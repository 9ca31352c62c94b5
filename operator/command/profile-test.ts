import { type Command, Option } from 'commander'
import { ROW_COLUMNS } from '../../functions/contract/row-format.ts'
import { PARTY_SCHEMES, type PartyScheme } from '../../functions/contract/words.ts'
import type { Preview } from '../../functions/job/staging/preview-source.ts'
import { table } from '../format/table.ts'
import type { Judging } from '../operations/check-source.ts'
import { OPERATION_ERRORS, OperationError } from '../operations/operation-error.ts'
import { acting, type CommandContext, codeOf } from './command-context.ts'
import { rejectionLines } from './validation-text.ts'

type Options = { readonly profile?: string; readonly distributor?: string; readonly partyScheme: PartyScheme }

const judgingOf = async (
  { operations }: CommandContext,
  { profile: path, distributor, partyScheme }: Options,
): Promise<Judging> => {
  if (path !== undefined && distributor !== undefined)
    throw new OperationError('Usage', 'Name either a profile or a distributor, not both.')
  if (distributor !== undefined) {
    const open = await operations()
    const { profile } = await open.profile(codeOf(distributor))
    const rules = (await open.distributors()).find(({ code }) => code === distributor)
    if (rules === undefined) throw new OperationError('NotFound', `No distributor has the code ${distributor}.`)
    return { rules, profile }
  }
  const { readProfile } = await import('../operations/profile-file.ts')
  const rules = { sumRule: 'at-most', partyScheme } as const
  return { rules, profile: path === undefined ? undefined : await readProfile(path) }
}

const previewLines = ({ header, rows, rejection, ignoredColumns }: Preview): string[] => [
  ...(header === null ? ['no header'] : [`line ${header.line} is the header`]),
  ...(ignoredColumns.length === 0 ? [] : [`ignored columns: ${ignoredColumns.join(', ')}`]),
  ...(rows.length === 0
    ? []
    : table(
        [
          ['line', ...ROW_COLUMNS],
          ...rows.map((row) => [String(row.line), ...ROW_COLUMNS.map((column) => row[column])]),
        ],
        [0, 4],
      )),
  ...rejectionLines(rejection),
]

export const addTest = (parent: Command): void => {
  parent
    .command('test')
    .argument('<file>', 'a file as the distributor sends it')
    .summary('show what a profile makes of the first twenty rows')
    .option('--profile <file>', 'the profile, as JSON')
    .option('-d, --distributor <code>', 'or the one that is set for a distributor')
    .addOption(new Option('--party-scheme <scheme>', 'what names a party').choices(PARTY_SCHEMES).default('opaque'))
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock profile test 정산.xlsx --profile aria.json\n  sharelock profile test 정산.xlsx -d ARIA',
    )
    .action(
      acting(async (context: CommandContext, file: string, options: Options) => {
        const { testProfile } = await import('../operations/propose/profile-sample.ts')
        const preview = await testProfile(file, await judgingOf(context, options))
        context.out.document({ file, ...preview })
        context.out.answer(...previewLines(preview))
        return preview.rejection.total === 0 ? 0 : OPERATION_ERRORS.Rejected
      }),
    )
}
