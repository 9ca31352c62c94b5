import type { Command } from 'commander'
import type { StartOptions } from '../operations/start-plan.ts'
import { type BeginOptions, begin } from './begin.ts'
import { acting, type SliceOptions, sliceOf } from './command-context.ts'
import { withBeginning, withSlice } from './slice-options.ts'

export const addUndo = (program: Command): void => {
  withBeginning(withSlice(program.command('undo')))
    .summary('go back to the set that was registered before')
    .description(
      'Registers again what was REGISTERED before the newest job of a slice: after a wrong file, the one before it; after a replacement that halted, the set that it was replacing (the halted job is closed). Shows the difference and always asks for a typed confirmation.',
    )
    .option('--confirm <text>', 'what would have to be typed, e.g. "ARIA 2026-10"')
    .option('--strict', 'refuse a set with warnings, whoever confirmed them')
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock undo -d ARIA -m 2026-10\n  sharelock undo -d ARIA -m 2026-10 --confirm "ARIA 2026-10" --why "file of another month"',
    )
    .action(
      acting(async (context, options: SliceOptions & BeginOptions & Pick<StartOptions, 'strict'>) => {
        const operations = await context.operations()
        const plan = await operations.planUndo(sliceOf(options))
        return await begin(context, operations, plan, { ...options, supersede: plan.blockedBy !== null })
      }),
    )
}
