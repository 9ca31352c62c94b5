import { writeFile } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import { REPORT_FORMS, type ReportForm } from '../../functions/contract/file-report.ts'
import { OperationError } from '../operations/operation-error.ts'
import { acting, type SliceOptions, sliceOf } from './command-context.ts'
import { withSlice } from './slice-options.ts'

type Options = SliceOptions & { readonly form: ReportForm; readonly execution?: string; readonly output?: string }

export const FORMS = Object.keys(REPORT_FORMS) as ReportForm[]

/** Writes a report beside whatever is there: a file that exists is not replaced. */
export const saveReport = async (path: string, text: string): Promise<void> => {
  try {
    await writeFile(path, text, { flag: 'wx' })
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'is there already' : (error as Error).message
    throw new OperationError('Usage', `The report cannot be written: ${path} ${why}.`, error)
  }
}

export const addReport = (program: Command): void => {
  withSlice(program.command('report'))
    .summary('the report of a refused file, to send back to its sender')
    .description(
      'Prints or saves the report that a run wrote where it refused a file or found warnings: every error and warning with its line, in English and Korean. CSV for a spreadsheet, HTML for people, JSON for programs.',
    )
    .addOption(new Option('--form <form>', 'how it is written').choices(FORMS).default('csv'))
    .option('-e, --execution <name>', 'the run that wrote it; by default the newest report of the slice')
    .option('-o, --output <path>', 'a new file of this machine to write it to')
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock report -d ARIA -m 2026-10 --output aria-errors.csv\n  sharelock report -d ARIA -m 2026-10 --form html -o aria-errors.html',
    )
    .action(
      acting(async ({ out, operations }, options: Options) => {
        const { form, execution, output } = options
        const { key, text } = await (await operations()).report(sliceOf(options), form, execution)
        if (output !== undefined) await saveReport(output, text)
        out.document({ key, output: output ?? null, text })
        if (output === undefined) out.answer(...text.trimEnd().split(/\r?\n/))
        else out.answer(`${key} is in ${output}.`)
        return 0
      }),
    )
}
