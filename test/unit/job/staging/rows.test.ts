import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  CHUNK_ROWS_MAX,
  SHARE_SUM_MAX_UNITS,
  SOURCE_ROWS_MAX,
  TRACK_ROWS_MAX,
} from '../../../../functions/contract/limits.ts'
import { Manifest } from '../../../../functions/contract/manifest.ts'
import { isrcNumber, isrcText } from '../../../../functions/job/staging/isrc-number.ts'
import type { ReadResult } from '../../../../functions/job/staging/read-source.ts'
import { sortOrder } from '../../../../functions/job/staging/sort-order.ts'
import { AT_MOST, EXACT, errorsOf, HEADER, linesOf, stageText, verdictsOf } from '../../../support/staging.ts'

type Row = { isrc: string; rightType: string; party: string; units: number }

const manifestOf = (result: ReadResult): Manifest => {
  if (!result.accepted) throw new Error(JSON.stringify(result.rejection.errors[0]))
  return result.source.manifest
}

const decimal = (units: number): string => `${Math.floor(units / 1e6)}.${String(units % 1e6).padStart(6, '0')}`
const csvOf = (rows: readonly Row[]): string =>
  HEADER + rows.map((row) => `${row.isrc},${row.rightType},${row.party},${decimal(row.units)}\n`).join('')

/** MySQL's comparison under ascii_bin: the shorter value is padded with spaces, then bytes are compared. */
const compareAsMysql = (a: string, b: string): number => {
  const length = Math.max(a.length, b.length)
  return Buffer.compare(Buffer.from(a.padEnd(length, ' ')), Buffer.from(b.padEnd(length, ' ')))
}
const compareKeys = (a: Row, b: Row): number =>
  compareAsMysql(a.isrc, b.isrc) || compareAsMysql(a.rightType, b.rightType) || compareAsMysql(a.party, b.party)

const isrc = fc.stringMatching(/^[A-Z]{2}[A-Z0-9]{3}[0-9]{7}$/)
const fewIsrcs = fc.constantFrom('KRA012600001', 'KRA012600002', 'KRA0A2600001', 'AZZZZ9999999', 'KRA112600001')
const row: fc.Arbitrary<Row> = fc.record({
  isrc: fc.oneof(isrc, fewIsrcs),
  rightType: fc.oneof(fc.constantFrom('P', 'P-', 'P0', 'PA', 'P_'), fc.stringMatching(/^[A-Z0-9_-]{1,20}$/)),
  party: fc.oneof(fc.constantFrom('A', 'A.', 'A-', 'a', 'A0', 'AA'), fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/)),
  units: fc.integer({ min: 1, max: 1_000_000 }),
})
const rows = fc.uniqueArray(row, {
  minLength: 1,
  maxLength: 60,
  selector: (value) => `${value.isrc}\t${value.rightType}\t${value.party}`,
})

describe('an ISRC as a number', () => {
  test('is exact, comes back as it was, and compares as its text', () => {
    fc.assert(
      fc.property(isrc, isrc, (a, b) => {
        expect(Number.isSafeInteger(isrcNumber(a))).toBe(true)
        expect(isrcText(isrcNumber(a))).toBe(a)
        expect(Math.sign(isrcNumber(a) - isrcNumber(b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
      }),
    )
    expect(isrcText(isrcNumber('ZZZZZ9999999'))).toBe('ZZZZZ9999999')
    expect(isrcNumber('AA0000000000')).toBe(0)
  })
})

describe('sorting', () => {
  test('is stable and agrees with the language for every array', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 300 }), (values) => {
        const order = sortOrder(values.length, (a, b) => (values[a] ?? 0) - (values[b] ?? 0))
        const expected = values.map((value, index) => ({ value, index })).toSorted((a, b) => a.value - b.value)
        expect(Array.from(order)).toEqual(expected.map(({ index }) => index))
      }),
    )
  })

  test('gives the order of the primary key in MySQL, whatever the order of the file', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (unsorted) => {
        const staged = linesOf(await stageText(csvOf(unsorted)))
        const expected = unsorted
          .toSorted(compareKeys)
          .map(({ isrc, rightType, party, units }) => `${isrc}\t${rightType}\t${party}\t${decimal(units)}\n`)
        expect(staged).toBe(expected.join(''))
      }),
    )
  })
})

describe('a staged source', () => {
  test('has the same address for every order of rows, order of columns and spelling', async () => {
    const shuffled = rows.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    )
    await fc.assert(
      fc.asyncProperty(shuffled, async ([list, permuted]) => {
        const respelt = permuted.map(({ isrc, rightType, party, units }) => {
          const hyphens = `${isrc.slice(0, 2)}-${isrc.slice(2, 5)}-${isrc.slice(5, 7)}-${isrc.slice(7)}`
          return `"${decimal(units)}",x,${party},${rightType.toLowerCase()},${hyphens}\r\n`
        })
        const other = gzipSync(`\ufeffSHARE,비고,PARTY_ID,RIGHT_TYPE,ISRC\r\n${respelt.join('')}`)
        const [first, second] = [manifestOf(await stageText(csvOf(list))), manifestOf(await stageText(other))]
        expect(second).toEqual(first)
      }),
    )
  })

  test('has another address as soon as one share, party or row differs', async () => {
    const base = `${HEADER}KRA012600001,P,A,50\nKRA012600001,P,B,50\n`
    const texts = [base, base.replace('A,50', 'A,49'), base.replace('B', 'C'), `${base}KRA012600002,P,A,1\n`]
    const digests = await Promise.all(texts.map(async (text) => manifestOf(await stageText(text)).digest))
    expect(new Set(digests).size).toBe(texts.length)
  })

  test('has another address where chunks are cut elsewhere', async () => {
    const text = `${HEADER}KRA012600001,P,A,50\nKRA012600002,P,B,50\n`
    const other = await stageText(text, AT_MOST, { limits: { chunkRowsMax: 9_999 } })
    expect(manifestOf(other).digest).not.toBe(manifestOf(await stageText(text)).digest)
  })

  test('keeps the address it was first given', async () => {
    const text = `${HEADER}KRA012600001,P,A,50\nKRA012600001,P,B,50\n`
    const chunk = createHash('sha256')
      .update('KRA012600001\tP\tA\t50.000000\nKRA012600001\tP\tB\t50.000000\n')
      .digest('hex')
    const expected = createHash('sha256')
      .update(`sharelock staged source 1, 15000 rows a chunk\n${chunk}\n`)
      .digest('hex')
    expect(manifestOf(await stageText(text)).digest).toBe(expected)
  })

  test('is cut between tracks, never over the limit, and its manifest says what its chunks hold', async () => {
    const limits = { chunkRowsMax: 7, trackRowsMax: 5 }
    const tracks = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(tracks, async (sizes) => {
        const list = sizes.flatMap((size, track) =>
          Array.from({ length: size }, (_, n) => `KRA0126${10_000 + track},P,A${n},1.5\n`),
        )
        const result = await stageText(HEADER + list.join(''), AT_MOST, { limits })
        const manifest = manifestOf(result)
        expect(Manifest.parse(manifest)).toEqual(manifest)
        expect(manifest.rows).toBe(list.length)
        expect(manifest.tracks).toBe(sizes.length)
        expect(manifest.parties).toBe(Math.max(...sizes))
        expect(Number(manifest.shareSum)).toBe(1.5 * list.length)
        if (!result.accepted) return
        const seen = new Set<string>()
        manifest.chunks.forEach((chunk, number) => {
          const body = result.source.body(number)
          const lines = body.toString().trimEnd().split('\n')
          const isrcs = lines.map((line) => line.split('\t')[0] ?? '')
          expect(chunk).toEqual({
            number,
            rows: lines.length,
            bytes: body.length,
            digest: createHash('sha256').update(body).digest('hex'),
            firstIsrc: isrcs[0],
            lastIsrc: isrcs.at(-1),
          })
          expect(lines.length).toBeLessThanOrEqual(limits.chunkRowsMax)
          for (const name of new Set(isrcs)) {
            expect(seen.has(name)).toBe(false)
            seen.add(name)
          }
        })
        // As few chunks as whole tracks allow: no chunk could take the next one's first track.
        manifest.chunks.slice(1).forEach((chunk, number) => {
          const next = sizes[Number(chunk.firstIsrc.slice(-5)) - 10_000] ?? 0
          expect((manifest.chunks[number]?.rows ?? 0) + next).toBeGreaterThan(limits.chunkRowsMax)
        })
      }),
    )
  })

  test('keeps the longest values a row may have', async () => {
    const [rightType, party] = ['R'.repeat(20), 'p'.repeat(20)]
    const lines = linesOf(await stageText(`${HEADER}KRA012600001,${rightType},${party},100\n`))
    expect(lines).toBe(`KRA012600001\t${rightType}\t${party}\t100.000000\n`)
  })

  test('sums its shares exactly where doubles would not', async () => {
    const list = Array.from(
      { length: 10_000 },
      (_, n) => `KRA0126${10_000 + n},P,A,0.1\nKRA0126${10_000 + n},P,B,0.000001\n`,
    )
    expect(manifestOf(await stageText(HEADER + list.join(''))).shareSum).toBe('1000.010000')
  })

  test('of the largest file has a sum that a double still holds exactly', () => {
    expect(SOURCE_ROWS_MAX * SHARE_SUM_MAX_UNITS).toBeLessThan(Number.MAX_SAFE_INTEGER)
    expect(TRACK_ROWS_MAX).toBeLessThanOrEqual(CHUNK_ROWS_MAX)
  })
})

describe('rows together', () => {
  const track = (...shares: string[]): string => shares.map((share, n) => `KRA012600001,P,A${n},${share}\n`).join('')

  test.each([
    ['33.333 x 3', ['33.333', '33.333', '33.333'], [], '99.999000'],
    ['33.33, 33.33, 33.34', ['33.33', '33.33', '33.34'], [], '100.000000'],
    ['twelfths 5/5/2', ['41.666667', '41.666667', '16.666667'], [], '100.000001'],
    ['twelve twelfths', Array.from({ length: 12 }, () => '8.333333'), [], '99.999996'],
    ['200 and -100', ['200', '-100'], ['2:4 share-range', '3:4 share-sign'], ''],
    ['100 and 0', ['100', '0'], ['3:4 share-range'], ''],
    ['60 and 50', ['60.00', '50.00'], ['2:- sum-above-100'], ''],
    ['50 and 25', ['50.00', '25.00'], ['2:- sum-below-100'], ''],
  ])('%s is judged under the exact rule and summed as it is', async (_, shares, verdicts, sum) => {
    const result = await stageText(HEADER + track(...shares), EXACT)
    if (verdicts.length > 0) expect(verdictsOf(result)).toEqual(verdicts)
    else expect(manifestOf(result).shareSum).toBe(sum)
  })

  test('below 100 are accepted under the at-most rule', async () => {
    expect(manifestOf(await stageText(HEADER + track('50', '25'), AT_MOST)).shareSum).toBe('75.000000')
  })

  test('have the tolerance of the last decimal used anywhere in the file', async () => {
    const thirds = track('33.33', '33.33', '33.33')
    expect((await stageText(HEADER + thirds, EXACT)).accepted).toBe(true)
    const finer = await stageText(`${HEADER}${thirds}KRA012600002,P,A,100.000000\n`, EXACT)
    expect(verdictsOf(finer)).toEqual(['2:- sum-below-100'])
    expect(errorsOf(finer)[0]).toMatchObject({
      field: 'share',
      value: '99.990000',
      message:
        'the sum of the shares of KRA012600001 P, 99.990000, is below 100 by more than rounding explains (3 parties, 6 decimals in the file)',
    })
  })

  test('are judged per right type', async () => {
    const text = `${HEADER}KRA012600001,P,A,100.00\nKRA012600001,M,A,100.00\nKRA012600001,M,B,1.00\n`
    expect(verdictsOf(await stageText(text, EXACT))).toEqual(['3:- sum-above-100'])
  })

  test('have the tolerance of their own parties, however many rows come before them', async () => {
    const before = Array.from({ length: 50 }, (_, n) => `KRA01260${String(n).padStart(4, '0')},P,A,100.0\n`).join('')
    const split = (share: string): string => `KRA012699999,P,A,50.0\nKRA012699999,P,B,${share}\n`
    expect((await stageText(HEADER + before + split('50.1'), EXACT)).accepted).toBe(true)
    const result = await stageText(HEADER + before + split('50.2'), EXACT)
    expect(verdictsOf(result)).toEqual(['52:- sum-above-100'])
    expect(errorsOf(result)[0]?.message).toContain('2 parties')
  })

  test('are named by the line that comes first in the file, not in the order of the key', async () => {
    const text = `${HEADER}KRA012600001,P,C,50\nKRA012600001,P,B,50\nKRA012600001,P,A,50\n`
    expect(verdictsOf(await stageText(text))).toEqual(['2:- sum-above-100'])
    const middle = `${HEADER}KRA012600001,P,C,50\nKRA012600001,P,A,50\nKRA012600001,P,B,50\n`
    expect(verdictsOf(await stageText(middle))).toEqual(['2:- sum-above-100'])
  })

  test('agree with a sum in BigInt for every group', async () => {
    const shares = fc.array(fc.integer({ min: 1, max: 60_000_000 }), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(fc.array(shares, { minLength: 1, maxLength: 6 }), async (groups) => {
        const text = groups.map((group, number) =>
          group.map((units, n) => `KRA01260000${number},P,A${n},${decimal(units)}\n`).join(''),
        )
        const result = await stageText(HEADER + text.join(''), AT_MOST)
        const above = groups.filter((group) => {
          const excess = group.reduce((sum, units) => sum + BigInt(units), 0n) - 100_000_000n
          return 2n * excess > BigInt(group.length)
        })
        if (above.length > 0) expect(errorsOf(result)).toHaveLength(above.length)
        else {
          const total = groups.flat().reduce((sum, units) => sum + BigInt(units), 0n)
          expect(manifestOf(result).shareSum.replace('.', '')).toBe(total.toString().padStart(7, '0'))
        }
      }),
    )
  })

  test('with the same key are refused with both lines, also when spelt differently', async () => {
    const text = `${HEADER}KRA012600001,PERF,A,50\nKRA012600001,PERF,B,50\n\nkr-a01-26-00001,perf, A,25\n`
    const result = await stageText(text, EXACT)
    expect(verdictsOf(result)).toEqual(['5:- duplicate-key'])
    expect(errorsOf(result)[0]?.message).toContain('line 5 and line 2')
    const thrice = await stageText(`${HEADER}KRA012600001,P,A,1\n${'KRA012600001,P,A,1\n'.repeat(2)}`)
    expect(errorsOf(thrice).map(({ message }) => message.slice(-17))).toEqual([
      'line 3 and line 2',
      'line 4 and line 2',
    ])
  })

  test('whose party differs in case are two parties', async () => {
    expect(manifestOf(await stageText(`${HEADER}KRA012600001,P,a,1\nKRA012600001,P,A,1\n`)).parties).toBe(2)
  })

  test('are not called too few while a refused row may be what is missing', async () => {
    const text = `${HEADER}KRA012600001,P,A,50\nKRA012600001,P,B,5O\n`
    expect(verdictsOf(await stageText(text, EXACT))).toEqual(['3:4 share-format'])
  })

  test('of one track are at most as many as fit a chunk', async () => {
    const list = Array.from({ length: TRACK_ROWS_MAX + 1 }, (_, n) => `KRA012600001,P,A${n},0.01\n`)
    expect((await stageText(HEADER + list.slice(1).join(''))).accepted).toBe(true)
    const result = await stageText(`${HEADER}KRA012600000,P,A,1\n${list.join('')}`)
    expect(verdictsOf(result)).toEqual(['3:- track-rows'])
    expect(errorsOf(result)[0]?.message).toContain('5001 rows')
  })
})
