import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import iconv from 'iconv-lite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundleAlone } from '../../../../../operator/command/alone/bundle.ts'
import { HEADER_ROW, number, row, text, workbookOf } from '../../../../support/workbook.ts'

/* The one file that a distributor gets, in a folder with nothing else of the project. */

const folder = mkdtempSync(join(tmpdir(), 'sharelock-alone-'))
const COMMAND = join(import.meta.dirname, '../../../../../bin/sharelock.ts')
let parts: readonly string[] = []

const HEADER = 'isrc,right_type,party_id,share'
const ROWS = 'KRA012600001,P,A,75\nKRA012600001,P,B,25\n'
const FILES: Readonly<Record<string, string | Buffer>> = {
  'good.csv': `${HEADER}\n${ROWS}`,
  'bad.csv': `${HEADER}\n${ROWS}KRA012600003,P,A,33.3%\n`,
  'cp949.csv.gz': gzipSync(iconv.encode(`${HEADER},메모\nKRA012600001,P,A,75,뷁\n`, 'cp949')),
  'sheet.xlsx': workbookOf({
    sheets: { 정산: HEADER_ROW + row(text('KRA012600001'), text('P'), text('A'), number('75')) },
  }),
  'sheet.json': JSON.stringify({ format: { kind: 'xlsx', sheet: '정산' } }),
  'old.xls': Buffer.from('d0cf11e0a1b11ae1'.padEnd(2_048, '0'), 'hex'),
}

beforeAll(async () => {
  const { inputs } = await bundleAlone(join(folder, 'sharelock.mjs'))
  parts = Object.keys(inputs)
  for (const [name, bytes] of Object.entries(FILES)) writeFileSync(join(folder, name), bytes)
})
afterAll(() => rmSync(folder, { recursive: true }))

const run = (program: string, args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: {},
  })
  return { status, stdout, stderr }
}
const alone = (...args: string[]) => run('sharelock.mjs', args)

test.each([
  [0, 'validate good.csv'],
  [0, 'validate good.csv --sum-rule exact --json'],
  [3, 'validate bad.csv'],
  [3, 'validate bad.csv --json'],
  [0, 'validate cp949.csv.gz'],
  [0, 'validate sheet.xlsx --profile sheet.json'],
  [3, 'validate sheet.xlsx'],
  [3, 'validate old.xls'],
  [8, 'validate none.csv'],
  [2, 'validate good.csv --sum-rule other'],
  [2, 'validate'],
  [0, 'profile propose good.csv'],
  [0, 'profile propose sheet.xlsx --json'],
  [0, 'profile test sheet.xlsx --profile sheet.json'],
])('ends with %i and says what the command says: %s', (code, line) => {
  const said = alone(...line.split(' '))
  expect(said.status, said.stderr).toBe(code)
  expect(said).toEqual(run(COMMAND, line.split(' ')))
})

test('writes the report that is sent back', () => {
  expect(alone('validate', 'bad.csv', '--report', 'errors.html').status).toBe(3)
  expect(existsSync(join(folder, 'errors.html'))).toBe(true)
})

test('has nothing of AWS in it, and says so where it would be asked', () => {
  expect(parts.filter((part) => /@aws-sdk|@smithy|mysql2|ioredis|create-operations/.test(part))).toEqual([])
  expect(alone('profile', 'test', 'good.csv', '--distributor', 'ARIA')).toMatchObject({
    status: 2,
    stderr: /^This program checks files only and asks no AWS/,
  })
})

test('names the commands that it has, and what it ends with', () => {
  const { status, stdout } = alone('--help')
  expect(status).toBe(0)
  expect(stdout).toMatch(/validate[\s\S]*profile/)
  expect(stdout).not.toMatch(/start|AWS_PROFILE/)
})
