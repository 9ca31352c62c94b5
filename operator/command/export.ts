import type { Command } from 'commander'
import { count, counted } from '../../functions/contract/numbers.ts'
import { sliceOptions } from '../../functions/contract/remedies.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { facts } from '../format/table.ts'
import type { ExportedSet } from '../operations/job-set.ts'
import { OperationError } from '../operations/operation-error.ts'
import { acting, jobOf } from './command-context.ts'
import { Output } from './output.ts'
import { isGzip, type Saved, saveStream } from './save-lines.ts'

type Options = { readonly output?: string; readonly gzip?: boolean }

const savedLines = (set: ExportedSet, { output, bytes, sha256 }: Saved): string[] => [
  `${sliceName(set)}, job ${set.job} (${set.state}): ${counted(set.rows, 'row')}, sum of shares ${set.shareSum}`,
  ...facts([
    ['written', `${output ?? 'stdout'}, ${count(bytes)} bytes`],
    ['SHA-256', sha256],
    ['staged source', set.digest],
    ['checked', "each chunk by its digest; rows and their sum by the job's row in the database"],
    ['start it again', `sharelock start ${sliceOptions(set)} --source ${set.digest}`],
  ]),
  ...(set.state === 'REGISTERED' ? [] : [`  Job ${set.job} never came to REGISTERED: nobody has read this set.`]),
]

export const addExport = (program: Command): void => {
  program
    .command('export')
    .argument('<job>', "a job's number")
    .summary('the exact rows of a job, as CSV or gzip')
    .description(
      'Writes the set of a job, however old, as the canonical CSV: read from its staged source, each chunk checked against its digest, and never from the table. `start` and `validate` read it again, to the same staged source. What broke off half way is no file.',
    )
    .option('-o, --output <path>', 'a new file of this machine; one that ends with .gz is packed; by default stdout')
    .option('--gzip', 'pack it')
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock export 12 --output aria-2026-10.csv.gz\n  sharelock export 12 | head',
    )
    .action(
      acting(async ({ out, operations }, job: string, { output, gzip }: Options) => {
        const number = jobOf(job)
        if (out.json && output === undefined)
          throw new OperationError('Usage', 'With --json the rows need a file: --output PATH.')
        const set = await (await operations()).exportSet(number)
        const saved = await saveStream(set.csv, output, gzip === true || isGzip(output))
        const { csv: _, ...told } = set
        out.document({ ...told, ...saved })
        // Where stdout has the rows, people read stderr.
        const people = output === undefined ? new Output('json') : out
        people.say(...savedLines(set, saved))
        return 0
      }),
    )
}
