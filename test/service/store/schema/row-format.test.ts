import { expect, test } from 'vitest'
import { LINE_BYTES_MAX, ROW_COLUMNS, ROW_ORDER, SLOT_COLUMNS } from '../../../../functions/contract/row-format.ts'
import { useTestDatabase } from '../../../support/test-database.ts'

/* The schema is SQL and the format is code: here they are compared, so that a column of the one is not forgotten in the other. */
const db = useTestDatabase('row_format')

type Column = { readonly name: string; readonly chars: number | null; readonly digits: number | null }

const columnsOf = (table: string): Promise<Column[]> =>
  db.outside.rows<Column>(
    `select column_name as name, character_maximum_length as chars, numeric_precision as digits
     from information_schema.columns where table_schema = database() and table_name = ? order by ordinal_position`,
    [table],
  )
const namesOf = async (table: string): Promise<string[]> => (await columnsOf(table)).map(({ name }) => name)

test('the table has the columns of a row behind those of its slice, in their order', async () => {
  expect(await namesOf('share_ratio')).toEqual([...SLOT_COLUMNS, ...ROW_COLUMNS])
})

test('readers see the columns of a row behind those of its slice and the job of its set, in their order', async () => {
  expect(await namesOf('settled_share_ratio')).toEqual([
    'distributor',
    ...SLOT_COLUMNS.slice(0, 2),
    'job_id',
    ...ROW_COLUMNS,
  ])
})

test('the table is in the order of its rows', async () => {
  const [key] = await db.outside.rows<{ columns: string }>(
    `select group_concat(column_name order by seq_in_index separator ', ') as columns
     from information_schema.statistics
     where table_schema = database() and table_name = 'share_ratio' and index_name = 'PRIMARY'`,
  )
  expect(key?.columns).toBe(ROW_ORDER)
})

test('the longest line is that of the widest values', async () => {
  const row = (await columnsOf('share_ratio')).filter(({ name }) => (ROW_COLUMNS as readonly string[]).includes(name))
  // A point in a number, and behind each value a tab or the line's end.
  const bytes = row.map(({ chars, digits }) => (chars ?? (digits ?? 0) + 1) + 1)
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBe(LINE_BYTES_MAX)
})
