import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { readSource } from '../../../../functions/job/staging/read-source.ts'
import { correct, csvOf, generateRatios, generateTracks } from '../../../../local/generate.ts'
import { AT_MOST, EXACT, linesOf } from '../../../support/staging.ts'

const textOf = (pieces: Iterable<string>): string => [...pieces].join('')
const rowsOf = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','))
const stagedOf = (pieces: Iterable<string>, rules = EXACT) =>
  readSource(
    Readable.from(
      (function* () {
        for (const piece of pieces) yield Buffer.from(piece)
      })(),
    ),
    rules,
  )

describe('a generated file', () => {
  test.each([1, 2, 7, 100, 9_999])('has exactly %i rows and passes under both sum rules', async (rows) => {
    for (const order of ['key', 'shuffled'] as const) {
      for (const rules of [EXACT, AT_MOST]) {
        const result = await stagedOf(generateRatios({ rows, order }), rules)
        expect(result.accepted && result.source.manifest.rows).toBe(rows)
      }
    }
  })

  test('is the same for the same options and another for another seed or month', () => {
    const digest = (options: { seed?: number; month?: string }): string =>
      createHash('sha256')
        .update(textOf(generateRatios({ rows: 5_000, ...options })))
        .digest('hex')
    expect(digest({ seed: 3, month: '2026-10' })).toBe(digest({ seed: 3, month: '2026-10' }))
    expect(
      new Set([digest({}), digest({ seed: 3 }), digest({ month: '2026-10' }), digest({ month: '2026-11' })]).size,
    ).toBe(4)
  })

  test('gives one association more than 80 % of the rows, and twelfths', () => {
    const rows = rowsOf(textOf(generateRatios({ rows: 20_000 })))
    const large = rows.filter(([, , party]) => party?.startsWith('KOMCA.'))
    expect(large.length / rows.length).toBeGreaterThan(0.8)
    expect(large.length / rows.length).toBeLessThan(0.95)
    expect(rows.some(([, , , share]) => share === '8.333333')).toBe(true)
  })

  test('is in key order or far from it, as asked', async () => {
    const lines = (order: 'key' | 'shuffled'): string[] =>
      rowsOf(textOf(generateRatios({ rows: 5_000, order }))).map(
        ([isrc, right, party]) => `${isrc}\t${right}\t${party}`,
      )
    expect(lines('key')).toEqual(lines('key').toSorted())
    const shuffled = lines('shuffled')
    const descents = shuffled.filter((line, index) => index > 0 && line < (shuffled[index - 1] ?? '')).length
    expect(descents).toBeGreaterThan(shuffled.length / 5)
  })

  test('comes in bounded pieces', () => {
    for (const piece of generateRatios({ rows: 20_000 })) expect(piece.length).toBeLessThan(70_000)
  })
})

describe('a corrected file', () => {
  test('has rows changed, removed and added, is the same every time, and passes', async () => {
    const tracks = () => generateTracks({ rows: 20_000 })
    const original = new Set(linesOf(await stagedOf(csvOf(tracks()))).split('\n'))
    const corrected = new Set(linesOf(await stagedOf(csvOf(correct(tracks())))).split('\n'))
    const isrcOf = (line: string): string => line.split('\t')[0] ?? ''
    const before = new Set([...original].map(isrcOf))
    const after = new Set([...corrected].map(isrcOf))
    const gone = [...before].filter((isrc) => !after.has(isrc))
    const added = [...after].filter((isrc) => !before.has(isrc))
    const changed = [...corrected].filter((line) => line.includes('KOMCA.CORRECTED\t') && before.has(isrcOf(line)))
    for (const list of [gone, added, changed]) expect(list.length).toBeGreaterThan(5)
    const kept = [...corrected].filter((line) => original.has(line))
    expect(kept.length / original.size).toBeGreaterThan(0.95)
    expect(textOf(csvOf(correct(tracks())))).toBe(textOf(csvOf(correct(tracks()))))
  })
})
