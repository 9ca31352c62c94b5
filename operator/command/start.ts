import type { Command } from 'commander'
import { count } from '../../functions/contract/numbers.ts'
import { PARTS_ENDING } from '../../functions/contract/parts.ts'
import { OperationError } from '../operations/operation-error.ts'
import type { StartOptions, StartPlan } from '../operations/start-plan.ts'
import { type BeginOptions, begin } from './begin.ts'
import { acting, type SliceOptions, sliceOf, warningNamesOf } from './command-context.ts'
import { withBeginning, withSlice } from './slice-options.ts'

export type SourceOptions = { readonly file?: string; readonly source?: string }

type Options = SliceOptions &
  SourceOptions & { readonly plan?: string } & BeginOptions &
  Pick<StartOptions, 'supersede' | 'force' | 'accept' | 'strict'>

/** A path here, a key in the bucket, or the digest of a staged source. */
export const sourceOf = ({ file, source }: SourceOptions): StartPlan['source'] => {
  if ((file === undefined) === (source === undefined))
    throw new OperationError('Usage', 'Name the source: either --file PATH or --source KEY.')
  if (file?.endsWith(`.${PARTS_ENDING}`) === true)
    throw new OperationError(
      'Usage',
      'Upload the parts, and their descriptor last, and start it by its key: --source incoming/.../NAME.parts.json. Check it here before: sharelock validate NAME.parts.json.',
    )
  if (file !== undefined) return { path: file }
  if (/^[0-9a-f]{64}$/.test(source ?? '')) return { staged: source ?? '' }
  if (/^incoming\/./.test(source ?? '')) return { key: source ?? '' }
  throw new OperationError('Usage', '--source is a key under incoming/, or the 64 digits of a staged source.')
}

export const addStart = (program: Command): void => {
  const command = program
    .command('start')
    .summary('register a file: check, compare, upload, start, watch')
    .description(
      'Registers a file for one distributor and month. Before anything is uploaded or started it checks the file by the distributor\'s rules and shows what will be deleted and registered, and how that differs from the set that is read now. Then it asks: y or N, for a large change the typed "CODE MONTH", and for each warning its name. A script says --yes or --confirm. Starting what runs already joins it.',
    )
  withSlice(command)
    .option('-f, --file <path>', 'a file of this machine')
    .option('-s, --source <key>', 'a file in the bucket (incoming/...), or the digest of a staged source')
  withBeginning(command)
    .option('--supersede', 'close an open job of another file and begin with this one')
    .option('--force', 'replace the slice even if it holds exactly this source')
    .option('--plan <id>', 'start exactly what `sharelock plan` showed, or say what moved')
    .option('-y, --yes', 'start without being asked; a large change needs --confirm')
    .option('--confirm <text>', 'what would have to be typed, e.g. "ARIA 2026-10"')
    .option('--accept <names>', 'warnings that you saw and confirm, e.g. number-ids,row-count', warningNamesOf)
    .option('--strict', 'refuse a file with warnings, whoever confirmed them')
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock start -d ARIA -m 2026-10 --file shares.csv\n  sharelock start -d ARIA -m 2026-10 --source incoming/ARIA/2026-10.csv --wait --yes\n  sharelock start -d ARIA -m 2026-10 --file corrected.csv --supersede --confirm "ARIA 2026-10" --why "wrong file"',
    )
    .action(
      acting(async (context, options: Options) => {
        const onRows = (rows: number): void => context.out.draw(`${count(rows)} rows read`)
        if (options.plan !== undefined) {
          if ([options.file, options.source, options.distributor, options.month].some((named) => named !== undefined))
            throw new OperationError('Usage', '--plan names file, distributor and month already: give it alone.')
          const operations = await context.operations()
          const kept = await operations.keptPlan(options.plan, onRows)
          // Who names a plan has seen it: below the threshold that is the yes.
          return await begin(context, operations, kept, { ...options, yes: true })
        }
        const slice = sliceOf(options)
        const source = sourceOf(options)
        const operations = await context.operations()
        return await begin(context, operations, await operations.planStart(slice, source, onRows), options)
      }),
    )
}
