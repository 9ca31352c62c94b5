import type { Command } from 'commander'
import { remedyOf, remedyText, sliceOptions } from '../../functions/contract/remedies.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { acting, type SliceOptions, sliceOfEither } from './command-context.ts'
import { withSlice } from './slice-options.ts'

type Options = SliceOptions & { readonly why?: string; readonly execution?: string }

export const addStop = (program: Command): void => {
  withSlice(program.command('stop').argument('[job]', "a job's number, instead of distributor and month"))
    .summary('halt a running job between two chunks')
    .description(
      "Raises the job's fence, which lets the chunks in flight end and shuts out every later one, halts the job, releases its lock, and then ends its execution. The job keeps its place and is resumed by `sharelock resume`.",
    )
    .option('--execution <name>', 'end this execution of the slice only, and change no job')
    .option('--why <text>', 'a reason, for the audit trail', '')
    .addHelpText('after', '\nExamples:\n  sharelock stop 12 --why "wrong file"\n  sharelock stop -d ARIA -m 2026-10')
    .action(
      acting(async ({ out, operations: open }, job: string | undefined, options: Options) => {
        const operations = await open()
        const slice = await sliceOfEither(operations, job, options)
        const { why = '', execution } = options
        const stopped =
          execution === undefined ? await operations.stop(slice, why) : await operations.endRun(slice, execution, why)
        // A run that waited for the lock would go on from here, so it has to be said.
        const next = await operations.runningExecution(slice)
        out.document({ ...slice, ...stopped, stillRunning: next })
        if ('ended' in stopped)
          out.answer(`Ended ${stopped.ended}; it had written nothing of ${sliceName(slice)}, or was overtaken.`)
        else if (stopped.halted)
          out.answer(
            `Halted job ${stopped.job} of ${sliceName(slice)} in ${stopped.state}; its lock is ${stopped.released ? 'released' : 'not held any more'}.`,
            `  ${remedyText(remedyOf('Stopped', slice, true))}`,
          )
        else
          out.answer(
            `Job ${stopped.job} of ${sliceName(slice)} was ${stopped.state === 'REGISTERED' ? 'REGISTERED' : `halted or closed in ${stopped.state}`} already; nothing was changed.`,
          )
        if (next !== null)
          out.answer(out.style('yellow', `Another run of the slice goes on: sharelock watch ${sliceOptions(slice)}`))
        return 0
      }),
    )
}
