import { type Command, Option } from 'commander'
import { ENCODINGS, type Encoding } from '../../functions/contract/encodings.ts'
import { SOURCE_COLUMNS, type SourceColumn } from '../../functions/contract/source-refusals.ts'
import { OperationError } from '../operations/operation-error.ts'
import { acting } from './command-context.ts'
import { seenLines } from './proposal-text.ts'

type Options = {
  readonly out?: string
  readonly encoding: Encoding
  readonly sheet?: string
  readonly rightType?: string
  readonly column: readonly string[]
}

/** `share=지분율` as the column and its name. */
const columnOf = (text: string): readonly [SourceColumn, string] => {
  const [column = '', name = ''] = text.split(/=(.*)/s)
  const known = SOURCE_COLUMNS.find((each) => each === column)
  if (known !== undefined && name !== '') return [known, name]
  throw new OperationError('Usage', `--column is one of ${SOURCE_COLUMNS.join(', ')} with its name, e.g. share=지분율.`)
}

const collected = (text: string, before: readonly string[]): string[] => [...before, text]

export const addPropose = (parent: Command): void => {
  parent
    .command('propose')
    .argument('<file>', 'a file as the distributor sends it')
    .summary('look at a file and propose a profile')
    .description(
      'Looks at a file and proposes how files like it are written, and says what that rests on. It is a guess: look at it, `profile test` it, then set it.',
    )
    .option('--out <profile>', 'write it there; a file that is there is left alone')
    .addOption(new Option('--encoding <name>', 'where it is known').choices(ENCODINGS).default('detected'))
    .option('--sheet <name>', 'of a workbook with several')
    .option('--column <column=name>', 'the header of a column, where several may be it', collected, [])
    .option('--right-type <type>', 'of every row, where no column has it')
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock profile propose 정산.xlsx --sheet 10월 --out aria.json\n  sharelock profile propose shares.txt --column share=지분율 --right-type PERFORMANCE',
    )
    .action(
      acting(async ({ out }, file: string, { out: path, encoding, sheet, column, rightType }: Options) => {
        const { proposeFor } = await import('../operations/propose/profile-sample.ts')
        const { writeProfile } = await import('../operations/profile-file.ts')
        const named = { columns: Object.fromEntries(column.map(columnOf)), rightType }
        const { document, seen } = await proposeFor(file, { encoding, sheet }, named)
        if (path !== undefined) await writeProfile(path, document)
        out.document({ profile: document, seen })
        out.answer(...JSON.stringify(document, null, 2).split('\n'), '', ...seenLines(seen))
        if (path !== undefined)
          out.answer(`See what it makes of the file: sharelock profile test ${file} --profile ${path}`)
        return 0
      }),
    )
}
