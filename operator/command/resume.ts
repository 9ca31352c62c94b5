import type { Command } from 'commander'
import type { SliceName } from '../../functions/contract/words.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { refusal } from '../operations/failures.ts'
import type { Operations } from '../operations/operations.ts'
import { type BeginOptions, followStarted } from './begin.ts'
import { acting, jobOf, type SliceOptions, sliceOfEither } from './command-context.ts'
import { withBeginning, withSlice } from './slice-options.ts'
import { type SourceOptions, sourceOf } from './start.ts'

type Options = SliceOptions & SourceOptions & BeginOptions

/** A job is resumed with its own source and no other: a file that is named has to come to the same rows. */
const requireOwnSource = async (operations: Operations, slice: SliceName, options: Options): Promise<void> => {
  const { continues, blockedBy } = await operations.planStart(slice, sourceOf(options))
  if (continues !== null || blockedBy === null) return
  throw refusal('JobOpenError', `This is not the file of ${sliceName(slice)}'s open job ${blockedBy.job}.`, slice, true)
}

export const addResume = (program: Command): void => {
  const command = withSlice(
    program.command('resume').argument('[job]', "a job's number, instead of distributor and month"),
  )
    .summary('go on with a halted job from where it stopped')
    .description(
      'Goes on with the open job of a slice, with its own staged source, from its state: what its ledger has marked is not done again. No file is needed. Resuming what runs already joins it.',
    )
    .option('-f, --file <path>', 'make sure that the job is one of this file')
  withBeginning(command)
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock resume 12\n  sharelock resume -d ARIA -m 2026-10 --why "database is back"',
    )
    .action(
      acting(async (context, job: string | undefined, options: Options) => {
        const operations = await context.operations()
        const slice = await sliceOfEither(operations, job, options)
        if (options.file !== undefined) await requireOwnSource(operations, slice, options)
        // A job that is named is the one to resume; the slice's open job may be another.
        const seen = job === undefined ? undefined : { job: jobOf(job) }
        const started = await operations.resume(slice, { ...options, seen })
        return await followStarted(context, operations, started, null, options)
      }),
    )
}
