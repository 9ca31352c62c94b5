import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CHUNK_ROWS_MAX, TRACK_ROWS_MAX } from '../../../../functions/contract/limits.ts'
import { Manifest } from '../../../../functions/contract/manifest.ts'
import { SHARE_SUM_MAX_UNITS, SOURCE_ROWS_MAX } from '../../../../functions/contract/source-limits.ts'
import { isrcNumber, isrcText } from '../../../../functions/job/staging/isrc-number.ts'
import { sortOrder } from '../../../../functions/job/staging/sort-order.ts'
import { AT_MOST, HEADER, linesOf, stageText } from '../../../support/staging.ts'
import { compareKeys, csvOf, decimal, isrc, manifestOf, rows } from './ratio-rows.ts'

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
