import type { Command } from 'commander'
import { counted } from '../../functions/contract/numbers.ts'
import { SLICE_MONTHS_MAX } from '../../functions/contract/support-limits.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { OperationError } from '../operations/operation-error.ts'
import { acting } from './command-context.ts'

/** A year. */
const MONTHS = 12

export const addDemo = (program: Command): void => {
  program
    .command('demo')
    .summary('fill the local stack with eight distributors and a year')
    .description(
      'Adds eight distributors to the local stack and registers small files of a year, through the same machine as every month. What is there is left alone. Any other stage refuses it.',
    )
    .option('--months <count>', `months to fill, this one the last; up to ${SLICE_MONTHS_MAX}`, String(MONTHS))
    .addHelpText('after', '\nExample:\n  sharelock demo     after npm run local in another terminal')
    .action(
      acting(async ({ out, operations: open }, { months }: { months: string }) => {
        const count = Number(months)
        if (!(Number.isInteger(count) && count >= 1 && count <= SLICE_MONTHS_MAX))
          throw new OperationError('Usage', `--months is a number from 1 to ${SLICE_MONTHS_MAX}.`)
        const operations = await open()
        const { fillDemo } = await import('../operations/demo/fill-demo.ts')
        const filled = await fillDemo(operations, count, (slice, done, all) =>
          out.draw(`${done} of ${counted(all, 'month')}: ${sliceName(slice)}`),
        )
        out.document(filled)
        out.answer(
          `Registered ${counted(filled.registered, 'month')}; ${counted(filled.kept, 'month')} had a job already and were left alone.`,
          'Look at them: sharelock list, or in a browser: sharelock console',
        )
        return 0
      }),
    )
}
