import { type Command, Option } from 'commander'
import type { DistributorFields } from '../../functions/contract/operations.ts'
import type { DistributorLine } from '../../functions/contract/reports.ts'
import {
  OVER_CLAIMS,
  type OverClaim,
  PARTY_SCHEMES,
  type PartyScheme,
  REPLACE_MODES,
  type ReplaceMode,
  SUM_RULES,
  type SumRule,
} from '../../functions/contract/words.ts'
import { table } from '../format/table.ts'
import { OperationError } from '../operations/operation-error.ts'
import { acting, codeOf } from './command-context.ts'

type Fields = {
  readonly name?: string
  readonly sumRule?: SumRule
  readonly partyScheme?: PartyScheme
  readonly overClaim?: OverClaim
  readonly replaceMode?: ReplaceMode
  readonly active?: boolean
  readonly why?: string
}

/** The columns of CSV. */
const FIELDS = ['code', 'active', 'sumRule', 'partyScheme', 'overClaim', 'name'] as const

const lines = (distributors: readonly DistributorLine[]): string[] =>
  table([
    ['code', 'active', 'sum rule', 'parties', 'over-claims', 'replaces', 'name'],
    ...distributors.map(({ code, active, sumRule, partyScheme, overClaim, replaceMode, name }) => [
      code,
      active ? 'yes' : 'no',
      sumRule,
      partyScheme,
      overClaim ?? 'refuse',
      replaceMode ?? 'standby',
      name,
    ]),
  ])

const withFields = (command: Command): Command =>
  command
    .argument('<code>', 'the code, e.g. ARIA; case-sensitive, it never changes')
    .option('--name <name>', 'the name, in any script')
    .addOption(new Option('--sum-rule <rule>', 'what the shares of a track sum to').choices(SUM_RULES))
    .addOption(new Option('--party-scheme <scheme>', 'what names a party').choices(PARTY_SCHEMES))
    .addOption(
      new Option(
        '--over-claim <rule>',
        'a track above 100: refuse the file, or hold the track back and register the rest',
      ).choices(OVER_CLAIMS),
    )
    .addOption(
      new Option(
        '--replace-mode <mode>',
        'standby: the month stays readable while it is replaced; in-place: half the storage, and it does not',
      ).choices(REPLACE_MODES),
    )
    .option('--active', 'the schedule starts it every month')
    .option('--no-active', 'the schedule leaves it out')
    .option('--why <text>', 'a reason, for the audit trail')

const addAdd = (parent: Command): void => {
  withFields(parent.command('add').summary('add a distributor before its first file'))
    .addHelpText('after', '\nExample:\n  sharelock distributors add ARIA --name "아리아" --sum-rule exact')
    .action(
      acting(async ({ out, operations }, code: string, { why = '', ...fields }: Fields) => {
        const { name, sumRule = 'at-most', partyScheme = 'opaque', active = true, overClaim, replaceMode } = fields
        if (name === undefined) throw new OperationError('Usage', 'A new distributor needs a name: --name NAME.')
        const added = await (await operations()).putDistributor(
          'add',
          {
            ...{ code: codeOf(code), name, active, sumRule, partyScheme },
            ...{ overClaim: overClaim ?? 'refuse', replaceMode: replaceMode ?? 'standby' },
          },
          why,
        )
        out.document(added)
        out.answer(...lines([added]))
        return 0
      }),
    )
}

const addSet = (parent: Command): void => {
  withFields(parent.command('set').summary('change some fields of a distributor'))
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock distributors set ARIA --sum-rule exact\n  sharelock distributors set ARIA --no-active --why "contract ended"',
    )
    .action(
      acting(async ({ out, operations: open }, code: string, { why = '', ...fields }: Fields) => {
        const operations = await open()
        const found = (await operations.distributors()).find((each) => each.code === code)
        if (found === undefined)
          throw new OperationError('NotFound', `No distributor has the code ${code}; codes are case-sensitive.`)
        if (Object.keys(fields).length === 0)
          throw new OperationError('Usage', 'Say what to change, e.g. --sum-rule exact.')
        const { id: _, ...before } = found
        const changed = await operations.putDistributor(
          'set',
          { ...before, ...fields } satisfies DistributorFields,
          why,
        )
        out.document(changed)
        out.answer(...lines([changed]))
        return 0
      }),
    )
}

export const addDistributors = (program: Command): void => {
  const parent = program
    .command('distributors')
    .summary('list, add or change distributors')
    .description("Lists, adds or changes distributors. A distributor's rules hold from its next file on.")
  parent
    .command('list', { isDefault: true })
    .summary('list all')
    .action(
      acting(async ({ out, operations }, _options: object) => {
        const distributors = await (await operations()).distributors()
        out.document(distributors)
        out.records(FIELDS, distributors)
        out.answer(...lines(distributors))
        return 0
      }),
    )
  addAdd(parent)
  addSet(parent)
}
