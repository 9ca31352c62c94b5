import type { Profile } from '../../functions/contract/profile.ts'
import { quoted } from '../../functions/contract/visible.ts'
import type { Seen } from '../operations/proposal.ts'

const SEPARATORS: Readonly<Record<string, string>> = { csv: 'commas', tsv: 'tabs', ';': 'semicolons', '|': 'bars' }

const formatLine = (format: Profile['format']): string =>
  format.kind === 'xlsx'
    ? `It is a workbook, and ${format.sheet === undefined ? 'its only sheet is read' : `the sheet ${quoted(format.sheet)} is read`}.`
    : `It is a text, and ${SEPARATORS[format.kind === 'delimited' ? format.delimiter : format.kind]} separate its values.`

/** What a proposal rests on, in sentences. */
export const seenLines = ({ format, header, rowsAfterData, share }: Seen): string[] => [
  formatLine(format),
  `Line ${header.line} is the header: ${header.names.map(quoted).join(', ')}.`,
  ...(rowsAfterData === 0 ? [] : [`${rowsAfterData} of the last rows have no ISRC and are no shares.`]),
  `The share is written as ${share.shareUnit}: the largest share is ${share.largest}, and the shares of a track come to ${share.sum}.`,
]
