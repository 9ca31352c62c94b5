import { count, counted } from '../../functions/contract/numbers.ts'
import { table } from '../format/table.ts'
import type { Largest } from '../operations/changes.ts'

const NONE = '-'

/** The largest changes of rows, then those of parties, as tables below a heading. */
export const changeLines = ({ largest, parties, partiesChanged }: Largest, rowsChanged: number): string[] => {
  if (rowsChanged === 0) return []
  const more = (shown: number, all: number): string => (all > shown ? `, ${count(shown)} of ${count(all)}` : '')
  return [
    `The largest changes${more(largest.length, rowsChanged)}`,
    ...table(
      [
        ['  isrc', 'right type', 'party', 'before', 'after', 'difference'],
        ...largest.map((row) => [
          `  ${row.isrc}`,
          row.rightType,
          row.party,
          row.before ?? NONE,
          row.after ?? NONE,
          row.difference,
        ]),
      ],
      [3, 4, 5],
    ),
    `What they come to for each party${more(parties.length, partiesChanged)}`,
    ...table(
      [
        ['  party', 'rows', 'before', 'after', 'difference'],
        ...parties.map((each) => [
          `  ${each.party}`,
          counted(each.rows, 'row'),
          each.before,
          each.after,
          each.difference,
        ]),
      ],
      [1, 2, 3, 4],
    ),
  ]
}
