import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { readSource, validateFile } from '../../../../functions/job/staging/read-source.ts'
import { AT_MOST, cutAt, EXACT, errorsOf, HEADER, stageText, verdictsOf } from '../../../support/staging.ts'

describe('a report', () => {
  test('counts every error and holds the first hundred by line', async () => {
    const bad = Array.from({ length: 1_000 }, (_, n) => `KRA012600001,P,A${n},0\n`).join('')
    const result = await stageText(HEADER + bad)
    expect(result).toMatchObject({ accepted: false, rejection: { total: 1_000 } })
    expect(errorsOf(result).map(({ line }) => line)).toEqual(Array.from({ length: 100 }, (_, n) => n + 2))
  })

  test('has errors of rows and of rows together in one order', async () => {
    const text = `${HEADER}KRA012600009,P,A,60\nKRA012600009,P,B,60\nKRA012600001,P,A,0\nKRA012600002,P,A,1\nKRA012600002,P,A,2\n`
    expect(verdictsOf(await stageText(text))).toEqual(['2:- sum-above-100', '4:4 share-range', '6:- duplicate-key'])
  })

  test.each([
    [1, 'isrc', 'KRA01260000', 'isrc-format'],
    [2, 'right_type', 'P!', 'right-type-format'],
    [3, 'party_id', 'A B', 'party-format'],
    [4, 'share', '1%', 'share-percent-sign'],
  ])('shows a row whose only fault is in column %i', async (column, field, value, rule) => {
    const fields = ['KRA012600001', 'P', 'A', '1'].with(column - 1, value)
    const errors = errorsOf(await stageText(`${HEADER}KRA012600002,P,A,1\n${fields.join(',')}\n`))
    expect(errors).toMatchObject([{ line: 3, column, field, value, rule }])
  })

  test('shows the header that lacks a column, and the name that is there twice', async () => {
    const lacking = errorsOf(await stageText('isrc,right_type,party_id\n'))
    expect(lacking).toMatchObject([{ field: 'share', value: 'isrc,right_type,party_id', column: null }])
    const twice = errorsOf(await stageText('isrc,right_type,party_id,share,Share\n'))
    expect(twice).toMatchObject([{ field: 'share', value: 'Share', column: 5 }])
  })

  test('holds why the file could not be read on, whatever else is wrong before, and judges no sums', async () => {
    const rows = `${HEADER}${'KRA012600001,P,A,99\n'.repeat(50)}${'a\n'.repeat(5_000)}`
    const errors = errorsOf(await stageText(Buffer.concat([Buffer.from(`\ufeff${rows}`), Buffer.of(0xff)])))
    expect(errors).toHaveLength(100)
    expect(errors.at(-1)).toMatchObject({ rule: 'encoding', line: 5_052 })
    expect(errors.slice(0, -1).every(({ rule }) => rule === 'column-count')).toBe(true)
  })

  test('says no more once there are too many rows', async () => {
    const rows = Array.from({ length: 50 }, (_, n) => `KRA0126000${10 + n},P,A,1\n`).join('')
    expect(await stageText(HEADER + rows, AT_MOST, { limits: { rowsMax: 9 } })).toMatchObject({
      accepted: false,
      rejection: { total: 1 },
      facts: { records: 10, compressed: false, encoding: 'ascii' },
    })
  })

  test('ends at the limits of rows and bytes', async () => {
    const rows = Array.from({ length: 10 }, (_, n) => `KRA01260000${n},P,A,1\n`).join('')
    expect(verdictsOf(await stageText(HEADER + rows, AT_MOST, { limits: { rowsMax: 9 } }))).toEqual(['11:- file-rows'])
    expect((await stageText(HEADER + rows, AT_MOST, { limits: { rowsMax: 10 } })).accepted).toBe(true)
    const tooLong = await stageText(HEADER + rows, AT_MOST, { limits: { bytesMax: 100 } })
    expect(verdictsOf(tooLong)).toEqual(['-:- file-bytes'])
  })
})

describe('validateFile', () => {
  test('gives the verdict without a store', async () => {
    const good = `${HEADER}KRA012600001,P,A,50\nKRA012600001,P,B,50\nKRA012600002,P,A,100\n`
    expect(await validateFile(cutAt(Buffer.from(good)), EXACT)).toMatchObject({
      accepted: true,
      summary: { rows: 3, tracks: 2, parties: 2, shareSum: '200.000000', chunks: 1 },
    })
    expect(await validateFile(cutAt(Buffer.from(`${HEADER}KRA012600001,P,A,50\n`)), EXACT)).toMatchObject({
      accepted: false,
      rejection: { total: 1 },
    })
  })
})

describe('reading', () => {
  test('tells how far it is and closes its input, also when it stops early', async () => {
    const seen: number[] = []
    const pieces = Array.from({ length: 5 }, (_, n) => Buffer.from(n === 0 ? HEADER : `KRA01260000${n},P,A,1\n`))
    // What a file is, its first bytes say: only behind them records are read.
    const first = Buffer.from(`${'\n'.repeat(600)}${HEADER}`)
    await readSource(Readable.from([first, ...pieces.slice(1)]), AT_MOST, {
      onProgress: (records) => seen.push(records),
    })
    expect(seen.at(-1)).toBeGreaterThanOrEqual(3)
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    const stopped = Readable.from([Buffer.from('a,b\n'), ...pieces])
    await readSource(stopped, AT_MOST)
    expect(stopped.destroyed).toBe(true)
  })

  test('passes an error of its input on', async () => {
    const failure = new Error('the connection was reset')
    const broken = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from(`${HEADER}KRA012600001,P,A,1\n`)
      throw failure
    }
    await expect(readSource(broken(), AT_MOST)).rejects.toBe(failure)
  })
})
