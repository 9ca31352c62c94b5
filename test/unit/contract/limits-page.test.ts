import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import * as source from '../../../functions/contract/source-limits.ts'
import { SOURCE_RULES } from '../../../functions/contract/source-refusals.ts'

const MIB = 1_024 ** 2
const count = (number: number): string => number.toLocaleString('en-US')
const mib = (bytes: number): string => `${bytes / MIB} MiB`

/** What docs/operator.md has to say of how large a file may be, by the rule that refuses it. */
const BOUNDS: readonly (readonly [rule: keyof typeof SOURCE_RULES, ...bounds: string[]])[] = [
  ['file-bytes', `${source.SOURCE_BYTES_MAX / MIB / 1_024} GiB`],
  ['file-rows', count(source.SOURCE_ROWS_MAX)],
  ['record-length', count(source.RECORD_CHARS_MAX)],
  ['zip-bytes', mib(source.ZIP_BYTES_MAX)],
  ['zip-several', count(source.ZIP_ENTRIES_MAX)],
  ['gzip-expansion', `${source.EXPANSION_MAX} times`, mib(source.EXPANSION_FREE_BYTES)],
  ['zip-expansion', `${source.EXPANSION_MAX} times`, mib(source.EXPANSION_FREE_BYTES)],
  ['sheet-bytes', mib(source.SHEET_BYTES_MAX)],
  ['sheet-bytes', mib(source.SHEET_PART_BYTES_MAX)],
  ['sheet-cells', count(source.SHEET_CELLS_MAX)],
  ['sheet-strings', count(source.SHARED_STRINGS_MAX), mib(source.SHARED_STRINGS_BYTES_MAX)],
]

test('the page for operators names each bound of a file as it is', async () => {
  const page = await readFile('docs/operator.md', 'utf8')
  const [table = ''] = /^\| what \| at most \| refused as \|\n(?:\|.*\n)+/m.exec(page) ?? []
  const rows = table.trimEnd().split('\n').slice(2)
  for (const [rule, ...bounds] of BOUNDS) {
    const own = rows.filter((row) => row.includes(`\`${rule}\``))
    expect(
      own.some((row) => bounds.every((bound) => row.includes(` ${bound}`))),
      `${rule}: ${bounds.join(', ')}`,
    ).toBe(true)
  }
  const named = rows.flatMap((row) => [...row.matchAll(/`([\w-]+)`/g)].map(([, rule]) => rule ?? ''))
  expect(named.filter((rule) => !(rule in SOURCE_RULES))).toEqual([])
  expect(rows).toHaveLength(new Set(BOUNDS.map((bound) => bound.slice(1).join())).size)
})
