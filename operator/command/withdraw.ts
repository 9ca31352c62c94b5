import type { Command } from 'commander'
import { counted } from '../../functions/contract/numbers.ts'
import { sliceOptions } from '../../functions/contract/remedies.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { shownJob } from '../operations/shown-job.ts'
import { acting, confirm, type SliceOptions, sliceOf } from './command-context.ts'
import { withConfirmation, withSlice } from './slice-options.ts'

type Options = SliceOptions & { readonly confirm?: string; readonly why?: string }

export const addWithdraw = (program: Command): void => {
  withConfirmation(withSlice(program.command('withdraw')))
    .summary('take a registered set from the readers')
    .description(
      'For a set that was registered under the wrong month or distributor: from then on readers see no set of the slice. No row is deleted, and `sharelock undo` shows the set again. Where an earlier set should be read instead, use `sharelock undo`. Always asks for a typed confirmation.',
    )
    .option('--why <text>', 'a reason, for the audit trail', '')
    .addHelpText(
      'after',
      '\nExample:\n  sharelock withdraw -d ARIA -m 2026-10 --confirm "ARIA 2026-10" --why "it is the file of September"',
    )
    .action(
      acting(async (context, options: Options) => {
        const { out } = context
        const slice = sliceOf(options)
        const operations = await context.operations()
        const report = await operations.show(slice)
        const number = shownJob(report)
        const rows = report.jobs.find(({ job }) => job === number)?.source.rows
        out.say(
          `${sliceName(slice)}: readers see job ${number}${rows === undefined ? '' : `, ${counted(rows, 'row')}`}; then they see none.`,
        )
        await confirm(context, sliceName(slice), options.confirm)
        const withdrawn = await operations.withdraw(number, options.why ?? '')
        out.document(withdrawn)
        out.answer(
          `${withdrawn.withdrawn ? 'Withdrawn' : 'Withdrawn before'}: readers see no set of ${sliceName(slice)}.`,
          `  To show job ${withdrawn.job} again: sharelock undo ${sliceOptions(slice)}`,
        )
        return 0
      }),
    )
}
