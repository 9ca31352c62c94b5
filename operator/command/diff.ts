import type { Command } from 'commander'
import { count, counted } from '../../functions/contract/numbers.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { facts } from '../format/table.ts'
import type { JobSet, SetDifference } from '../operations/job-set.ts'
import { acting, jobOf } from './command-context.ts'
import { changeLines } from './difference-text.ts'
import { takingChanges } from './taking-changes.ts'

type Options = { readonly output?: string; readonly parties?: string }

const setText = (set: JobSet): string =>
  `job ${set.job} of ${sliceName(set)} (${set.state}), ${counted(set.rows, 'row')}, sum of shares ${set.shareSum}`

const differenceLines = (found: SetDifference): string[] => {
  const { before, after, added, removed, changed, unchanged } = found
  const counts = `${count(added)} added, ${count(removed)} removed, ${count(changed)} changed, ${count(unchanged)} unchanged`
  return [
    ...facts([
      ['before', setText(before)],
      ['after', setText(after)],
      ['difference', counts],
    ]),
    ...changeLines(found, added + removed + changed),
  ]
}

export const addDiff = (program: Command): void => {
  program
    .command('diff')
    .argument('<before>', "a job's number")
    .argument('<after>', "another job's number")
    .summary('how the sets of two jobs differ, row by row')
    .description(
      'Compares the exact sets of two jobs, of one month or of two: the largest changes first, and for each party what its shares come to. Every changed row, in the order of its key, and every party go to CSV files.',
    )
    .option('-o, --output <path>', 'a new CSV file for every row that differs')
    .option('--parties <path>', 'a new CSV file for every party whose shares differ')
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock diff 12 15\n  sharelock diff 12 15 --output changes.csv --parties parties.csv',
    )
    .action(
      acting(async ({ out, operations }, before: string, after: string, { output, parties }: Options) => {
        const jobs = { before: jobOf(before), after: jobOf(after) }
        const one = await operations()
        const found = await takingChanges({ rows: output, parties }, (sinks) => one.diffSets(jobs, sinks))
        out.document({ ...found, output: output ?? null, partiesOutput: parties ?? null })
        out.answer(...differenceLines(found))
        return 0
      }),
    )
}
