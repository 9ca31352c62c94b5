import { execFile } from 'node:child_process'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ZIP_BYTES_MAX, ZIP_ENTRIES_MAX } from '../../../../functions/contract/source-limits.ts'
import { zipOf } from '../../../../local/zip-file.ts'
import type { FileRead } from '../../../support/read-file.ts'
import { HEADER } from '../../../support/staging.ts'
import { HEADER_ROW, sheetXml, text, workbookOf } from '../../../support/workbook.ts'

/* Small files that become large ones. Each is read in a process with little memory of its own, and ends by its rule. */

/** Of JavaScript's own memory; the buffers come on top of it. */
const HEAP_MB = 256
const RSS_MB_MAX = 512

const MIB = 1_024 ** 2

const sheet = (data: string | Buffer): Buffer =>
  workbookOf({ sheets: { S: '' }, parts: [{ name: 'xl/worksheets/sheet1.xml', bytes: data }] })
const [head = '', tail = ''] = sheetXml('|').split('|')
const endless = (begin: string, piece: string, mib: number): Buffer =>
  Buffer.concat([Buffer.from(head + begin), Buffer.alloc(mib * MIB, piece)])
const part = (name: string, bytes: string | Buffer): Buffer =>
  workbookOf({ sheets: { S: HEADER_ROW }, parts: [{ name, bytes }] })

const BOMBS: Readonly<Record<string, { readonly rules: readonly string[]; readonly file: () => Buffer }>> = {
  'one row in a zip archive, for ever': {
    rules: ['zip-expansion'],
    file: () =>
      zipOf({
        name: 'a.csv',
        bytes: Buffer.concat([Buffer.from(HEADER), Buffer.alloc(70 * MIB, 'KRA012600001,P,A,1\n')]),
      }),
  },
  'zeros in a zip archive': {
    rules: ['binary', 'record-length'],
    file: () => zipOf({ name: 'a.csv', bytes: Buffer.alloc(200 * MIB) }),
  },
  'a zip archive of thousands of files': {
    rules: ['zip-several'],
    file: () =>
      zipOf(...Array.from({ length: ZIP_ENTRIES_MAX + 1 }, (_, n) => ({ name: `${n}`, bytes: '', method: 0 }))),
  },
  'rows of nothing': { rules: ['sheet-damaged', 'zip-expansion'], file: () => sheet(endless('', '<row/>', 100)) },
  'cells of nothing': {
    rules: ['sheet-cells', 'zip-expansion'],
    file: () => sheet(endless('', `<row>${'<c/>'.repeat(16_000)}</row>`, 70)),
  },
  'one row without an end': { rules: ['sheet-damaged'], file: () => sheet(endless('<row>', '<c/>', 100)) },
  'cells at the far end of each row': {
    rules: ['record-length'],
    file: () => {
      const row = (n: number): string => `<row r="${n}"><c r="XFD${n}"><v>1</v></c></row>`
      return sheet(head + HEADER_ROW + Array.from({ length: 200_000 }, (_, n) => row(n + 2)).join('') + tail)
    },
  },
  'elements in elements': { rules: ['sheet-damaged'], file: () => sheet(endless('', '<a>', 100)) },
  'attributes without end': {
    rules: ['sheet-damaged', 'zip-expansion'],
    file: () => sheet(endless('<a', ' b=""', 100)),
  },
  'an attribute without end': { rules: ['sheet-damaged'], file: () => sheet(endless('<a b="', 'x', 100)) },
  'a comment without end': { rules: ['sheet-damaged'], file: () => sheet(endless('<!--', 'x', 100)) },
  'a text without end': {
    rules: ['sheet-damaged'],
    file: () => sheet(endless('<row><c t="inlineStr"><is><t>', 'x', 100)),
  },
  'entities of entities': {
    rules: ['sheet-damaged'],
    file: () => sheet(`<!DOCTYPE a [<!ENTITY b "${'c'.repeat(100)}"><!ENTITY d "${'&b;'.repeat(1_000)}">]><a>&d;</a>`),
  },
  'shared strings without end': {
    rules: ['sheet-strings', 'zip-expansion'],
    file: () =>
      part(
        'xl/sharedStrings.xml',
        Buffer.concat([Buffer.from('<sst>'), Buffer.alloc(110 * MIB, `<si><t>${'x'.repeat(9_000)}</t></si>`)]),
      ),
  },
  'blank shared strings without end': {
    rules: ['sheet-strings', 'zip-expansion'],
    file: () => part('xl/sharedStrings.xml', Buffer.concat([Buffer.from('<sst>'), Buffer.alloc(40 * MIB, '<si/>')])),
  },
  'styles without end': {
    rules: ['sheet-bytes'],
    file: () =>
      part(
        'xl/styles.xml',
        Buffer.concat([Buffer.from('<a><cellXfs>'), Buffer.alloc(40 * MIB, '<xf numFmtId="14"/>')]),
      ),
  },
}

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sharelock-bombs-'))
})
afterAll(() => rm(folder, { recursive: true }))

const read = async (path: string, kind: 'csv' | 'xlsx'): Promise<FileRead> => {
  const program = join(import.meta.dirname, '../../../support/read-file.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [
    `--max-old-space-size=${HEAP_MB}`,
    program,
    path,
    kind,
  ])
  return JSON.parse(stdout) as FileRead
}

describe('a bomb ends by its rule, in little memory', () => {
  test.each(Object.entries(BOMBS))('%s', async (name, { rules, file }) => {
    const path = join(folder, 'bomb')
    const bytes = file()
    expect(bytes.length).toBeLessThan(20 * MIB)
    await writeFile(path, bytes)
    const found = await read(path, name.includes('zip archive') ? 'csv' : 'xlsx')
    expect(found.rows).toBe(0)
    expect(
      found.rules.some((rule) => rules.includes(rule)),
      found.rules.join(),
    ).toBe(true)
    expect(found.rssMb).toBeLessThan(RSS_MB_MAX)
  })

  test('a zip archive that is larger than memory', async () => {
    const path = join(folder, 'large')
    await writeFile(path, zipOf({ name: 'a.csv', bytes: text(HEADER) }))
    await truncate(path, ZIP_BYTES_MAX + 1)
    const found = await read(path, 'csv')
    expect(found.rules).toEqual(['zip-bytes'])
    expect(found.rssMb).toBeLessThan(RSS_MB_MAX)
  })
})
