import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call } from '../../../support/operator.ts'

/* What a distributor does alone: no AWS, no stage, no database. */
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sharelock-profile-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const file = async (name: string, body: string): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, body)
  return path
}

const KOREAN = '정산\nISRC코드;수취인;지분율;비고\nKRA012600001;A;33,5;\nKRA012600001;B;66,5;x\n합계;;100;\n'

describe('profile', () => {
  test('proposes a profile, tests it, and validates by it', async () => {
    const path = await file('korean.csv', KOREAN)
    const profile = join(folder, 'korean.json')
    const proposed = await call(['profile', 'propose', path, '--right-type', 'PERF', '--out', profile])
    expect(proposed).toMatchObject({ code: 0, stderr: '' })
    expect(proposed.stdout).toContain('\nThe share is written as percent: the largest share is 66.5, and')
    expect(JSON.parse(await readFile(profile, 'utf8'))).toMatchObject({ decimalSign: ',', rowsAfterData: 1 })
    const tested = await call(['profile', 'test', path, '--profile', profile])
    expect(tested.code).toBe(0)
    expect(tested.stdout.split('\n')).toEqual([
      'line 2 is the header',
      'ignored columns: 비고',
      'line  isrc          right_type  party_id      share',
      '   3  KRA012600001  PERF        A         33.500000',
      '   4  KRA012600001  PERF        B         66.500000',
      '',
    ])
    const validated = JSON.parse((await call(['validate', path, '--profile', profile, '--json'])).stdout)
    expect(validated).toMatchObject({ accepted: true, summary: { rows: 2, shareSum: '100.000000' } })
    expect((await call(['validate', path])).code).toBe(3)
  })

  test('writes over nothing', async () => {
    const path = await file('over.csv', 'isrc,right_type,party_id,share\nKRA012600001,P,A,1\n')
    const { code, stderr } = await call(['profile', 'propose', path, '--out', path])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `The file ${path} is there already; name another one.\n`,
    })
  })

  test('tests the first twenty rows and no more, and ends with 3 where one is refused', async () => {
    const rows = Array.from({ length: 30 }, (_, n) => `KRA0126000${10 + n},P,A,${n === 3 ? 'x' : 1}\n`).join('')
    const path = await file('rows.csv', `isrc,right_type,party_id,share\n${rows}`)
    const { code, stdout } = await call(['profile', 'test', path, '--json'])
    expect(code).toBe(3)
    const document = JSON.parse(stdout)
    expect(document.rows.map(({ line }: { line: number }) => line)).toEqual([2, 3, 4, ...range(6, 21)])
    expect(document.rejection).toMatchObject({ total: 1, errors: [{ line: 5, rule: 'share-format' }] })
  })

  test.each([
    ['{', /^.+ is not JSON: /],
    [
      '{"format":"csv"}',
      /^.+ is no profile\. format: .+ See docs\/profile\.schema\.json for what a profile may say\.\n$/,
    ],
    ['{"share":["x"]}', /^.+ is no profile\. Unrecognized key: "share"\. /],
    ['{"columns":{"share":["isrc"]}}', /^.+ is no profile\. columns: "isrc" names two columns\. /],
  ])('that is %j is refused as wrong input', async (text, problem) => {
    const path = await file('wrong.json', text)
    const csv = await file('any.csv', 'isrc\n')
    const { code, stderr } = await call(['validate', csv, '--profile', path])
    expect(code).toBe(2)
    expect(stderr).toMatch(problem)
  })

  test('that is not there is told, and so is an option that says nothing', async () => {
    const csv = await file('any.csv', 'isrc\n')
    expect((await call(['validate', csv, '--profile', join(folder, 'none.json')])).code).toBe(8)
    const named = await call(['profile', 'propose', csv, '--column', 'title=x'])
    expect(named).toMatchObject({ code: 2, stderr: expect.stringContaining('--column is one of isrc, right_type,') })
    expect((await call(['profile', 'test', csv, '--profile', csv, '-d', 'ARIA'])).code).toBe(2)
  })
})

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n)
