import type { Command } from 'commander'
import type { SliceName } from '../../functions/contract/words.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { OperationError } from '../operations/operation-error.ts'
import type { Operations } from '../operations/operations.ts'
import { acting, type SliceOptions, sliceOfEither } from './command-context.ts'
import { follow } from './follow.ts'
import { withSlice } from './slice-options.ts'

/** What runs on the slice, or else what ran last: then its end is shown. */
const executionOf = async (operations: Operations, slice: SliceName): Promise<string> => {
  const running = await operations.runningExecution(slice)
  const last = running ?? (await operations.show(slice)).jobs[0]?.execution
  if (last !== undefined) return last
  throw new OperationError('NotFound', `Nothing ever ran on ${sliceName(slice)}.`)
}

export const addWatch = (program: Command): void => {
  withSlice(program.command('watch').argument('[job]', "a job's number, instead of distributor and month"))
    .summary('watch what runs on a slice until it ends')
    .description(
      'Shows the state of the run, its chunks, its speed and the time left, until it ends; then how it ended. Ctrl-C ends the watching and never the run. With --json, one line for each look.',
    )
    .addHelpText('after', '\nExamples:\n  sharelock watch -d ARIA -m 2026-10\n  sharelock watch 12 --json')
    .action(
      acting(async (context, job: string | undefined, options: SliceOptions) => {
        const operations = await context.operations()
        const slice = await sliceOfEither(operations, job, options)
        const execution = await executionOf(operations, slice)
        const { code } = await follow(context, operations, execution, (progress) => context.out.document(progress))
        return code
      }),
    )
}
