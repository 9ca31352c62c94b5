import type { Command } from 'commander'
import { count } from '../../functions/contract/numbers.ts'
import { OPERATION_ERRORS } from '../operations/operation-error.ts'
import { acting, type SliceOptions, sliceOf } from './command-context.ts'
import { planLines } from './plan-text.ts'
import { withSlice } from './slice-options.ts'
import { type SourceOptions, sourceOf } from './start.ts'
import { takingChanges } from './taking-changes.ts'

type Options = SliceOptions &
  SourceOptions & { readonly output?: string; readonly parties?: string; readonly keep: boolean }

export const addPlan = (program: Command): void => {
  withSlice(program.command('plan'))
    .summary('what a start would do, row by row; nothing is started')
    .description(
      "Checks a file by the distributor's rules and shows what a start of it would delete and register: the largest changes first, and what they come to for each party. It touches no row and takes no lock. The file and the plan are kept in the bucket, and `start --plan ID` starts exactly that, or says what moved.",
    )
    .option('-f, --file <path>', 'a file of this machine')
    .option('-s, --source <key>', 'a file in the bucket (incoming/...), or the digest of a staged source')
    .option('-o, --output <path>', 'a new CSV file for every row that differs')
    .option('--parties <path>', 'a new CSV file for every party whose shares differ')
    .option('--no-keep', 'only look: nothing is written to the bucket, and there is no ID to start')
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock plan -d ARIA -m 2026-10 --file shares.csv\n  sharelock plan -d ARIA -m 2026-10 --file shares.csv --output changes.csv --parties parties.csv\n  sharelock start --plan ARIA-2026-10-3f2a9c01d4e5b678',
    )
    .action(
      acting(async ({ out, operations: open }, options: Options) => {
        const slice = sliceOf(options)
        const source = sourceOf(options)
        const operations = await open()
        const onRows = (rows: number): void => out.draw(`${count(rows)} rows read`)
        const plan = await takingChanges({ rows: options.output, parties: options.parties }, (sinks) =>
          operations.planStart(slice, source, onRows, undefined, sinks),
        )
        out.answer(...planLines(out, plan))
        if (!plan.validation.accepted) {
          out.document({ error: 'Rejected', message: 'The file was refused.', plan, id: null })
          return OPERATION_ERRORS.Rejected
        }
        const id = options.keep ? await operations.keepPlan(plan) : null
        out.document({ plan, id })
        if (id !== null) out.answer('Nothing was started. To start exactly this:', `  sharelock start --plan ${id}`)
        return 0
      }),
    )
}
