import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PartsDescriptor, partKey, sixDecimals } from '../../../../functions/contract/parts.ts'
import { type OpenPart, readParts } from '../../../../functions/job/staging/read-parts.ts'
import { AT_MOST, cutAt, errorsOf, HEADER, linesOf, stageText } from '../../../support/staging.ts'

/* Several files of one month are one file: the same rows give the same digest, and each part is what was promised. */
type Expected = { readonly rows: number; readonly shareSum: string; readonly sha256?: string }

const part = (name: string, csv: string, expected: Expected): OpenPart => ({
  name,
  ...expected,
  open: async () => cutAt(Buffer.from(csv), 7),
})
const row = (track: number, party: string, share: string) =>
  `KRA01${String(track).padStart(7, '0')},P,${party},${share}\n`
const ONE = HEADER + row(2, 'A', '50') + row(1, 'A', '50')
const TWO = HEADER + row(1, 'B', '50') + row(3, 'A', '33.333333')

describe('parts', () => {
  test('give what one file of all their rows gives, each with its own header', async () => {
    const shuffled = `share,party_id,right_type,isrc\r\n50,B,P,KRA010000001\r\n33.333333,A,P,KRA010000003\r\n`
    const parts = [
      part('a.csv', ONE, { rows: 2, shareSum: '100' }),
      part('b.csv', shuffled, { rows: 2, shareSum: '83.333333' }),
    ]
    const [whole, several] = [await stageText(ONE + TWO.slice(HEADER.length)), await readParts(parts, AT_MOST)]
    expect(linesOf(several)).toBe(linesOf(whole))
    if (whole.accepted && several.accepted) expect(several.source.manifest).toEqual(whole.source.manifest)
  })

  test.each([
    ['rows', { rows: 3, shareSum: '100' }, 'it has 2 rows and not 3'],
    ['a sum', { rows: 2, shareSum: '100.5' }, 'its shares sum to 100.000000 and not to 100.500000'],
    ['a digest', { rows: 2, shareSum: '100', sha256: 'ab'.repeat(32) }, 'its SHA-256 is'],
  ])('with other %s than promised are refused, naming the part', async (_, expected, said) => {
    const result = await readParts(
      [part('a.csv', ONE, expected), part('b.csv', TWO, { rows: 2, shareSum: '83.333333' })],
      AT_MOST,
    )
    const errors = errorsOf(result)
    expect(errors).toMatchObject([{ rule: 'part-differs', part: 'a.csv', line: null }])
    expect(errors[0]?.message).toContain(said)
  })

  test('with the right digest are accepted', async () => {
    const sha256 = createHash('sha256').update(ONE).digest('hex')
    const result = await readParts([part('a.csv', ONE, { rows: 2, shareSum: '100.0', sha256 })], AT_MOST)
    expect(result.accepted).toBe(true)
  })

  test('say of each error in which of them its line is, also where two of them are meant', async () => {
    const bad = HEADER + row(1, 'A', '50') + row(4, 'C', '1%')
    const errors = errorsOf(
      await readParts(
        [part('a.csv', ONE, { rows: 2, shareSum: '100' }), part('b.csv', bad, { rows: 2, shareSum: '1' })],
        AT_MOST,
      ),
    )
    expect(errors).toMatchObject([
      { rule: 'duplicate-key', part: 'b.csv', line: 2 },
      { rule: 'share-percent-sign', part: 'b.csv', line: 3 },
    ])
    expect(errors[0]?.message).toContain('line 2 of b.csv and line 3 of a.csv')
  })

  test('of which one has no header are refused for that one', async () => {
    const errors = errorsOf(
      await readParts(
        [
          part('a.csv', 'isrc,party\nx,y\n', { rows: 1, shareSum: '1' }),
          part('b.csv', TWO, { rows: 2, shareSum: '83.333333' }),
        ],
        AT_MOST,
      ),
    )
    expect(new Set(errors.map(({ part }) => part))).toEqual(new Set(['a.csv']))
  })

  test('name the part of a warning too', async () => {
    const parts = [
      part('a.csv', ONE, { rows: 2, shareSum: '100' }),
      part('b.csv', HEADER + row(5, 'nan', '50'), { rows: 1, shareSum: '50' }),
    ]
    const result = await readParts(parts, AT_MOST)
    expect(result.accepted && result.warnings).toMatchObject([
      { name: 'empty-ids', count: 1, examples: [{ line: 2, part: 'b.csv', value: 'nan' }] },
    ])
  })
})

test('however a file is cut into parts, the staged source is the same', async () => {
  const rows = Array.from({ length: 12 }, (_, n) => row(n % 5, `P${n}`, `${1.5 + n}`))
  const whole = await stageText(HEADER + rows.join(''))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 11 }), { maxLength: 4 }), async (cuts) => {
      const edges = [...new Set([0, ...cuts, 12])].sort((a, b) => a - b)
      const parts = edges.slice(1).map((edge, index) => {
        const own = rows.slice(edges[index], edge)
        const sum = own.reduce((total, line) => total + Number(line.trim().split(',')[3]), 0)
        return part(`${index}.csv`, HEADER + own.join(''), { rows: own.length, shareSum: String(sum) })
      })
      const result = await readParts(parts, AT_MOST)
      expect(result.accepted && whole.accepted && result.source.manifest).toEqual(
        whole.accepted && whole.source.manifest,
      )
    }),
    { numRuns: 50, seed: 20_261_130 },
  )
})

describe('a descriptor', () => {
  const good = { version: 1, parts: [{ name: '2026-10-1.csv', rows: 1, shareSum: '33.5' }] }
  test.each([
    ['no part', { version: 1, parts: [] }],
    ['a name that leads elsewhere', { version: 1, parts: [{ name: '../x.csv', rows: 1, shareSum: '1' }] }],
    ['a folder', { version: 1, parts: [{ name: 'a/x.csv', rows: 1, shareSum: '1' }] }],
    ['the folder itself', { version: 1, parts: [{ name: '..', rows: 1, shareSum: '1' }] }],
    ['one name twice', { version: 1, parts: [good.parts[0], good.parts[0]] }],
    ['a sum that is a number', { version: 1, parts: [{ name: 'x', rows: 1, shareSum: 33.5 }] }],
    ['a field that nobody knows', { ...good, total: 1 }],
  ])('with %s is none', (_, descriptor) => {
    expect(PartsDescriptor.safeParse(good).success).toBe(true)
    expect(PartsDescriptor.safeParse(descriptor).success).toBe(false)
  })

  test('has its parts beside it, and sums are compared as exact decimals', () => {
    expect(partKey('incoming/ARIA/2026-10.parts.json', '1.csv')).toBe('incoming/ARIA/1.csv')
    expect(['4', '4.5', '004.500000', '0.000001'].map(sixDecimals)).toEqual([
      '4.000000',
      '4.500000',
      '4.500000',
      '0.000001',
    ])
  })
})
