import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TRACK_ROWS_MAX } from '../../../../functions/contract/limits.ts'
import { AT_MOST, EXACT, errorsOf, HEADER, stageText, verdictsOf } from '../../../support/staging.ts'
import { decimal, manifestOf } from './ratio-rows.ts'

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
    const finer = await stageText(`${HEADER}${thirds}KRA012600002,P,A,99.999999\nKRA012600002,P,B,0.000001\n`, EXACT)
    expect(verdictsOf(finer)).toEqual(['2:- sum-below-100'])
    expect(errorsOf(finer)[0]).toMatchObject({
      field: 'share',
      value: '99.990000',
      message:
        'the sum of the shares of KRA012600001 P, 99.990000, is below 100 by more than rounding explains (3 parties, 6 decimals in the file)',
    })
  })

  test('have the same tolerance however many zeros stand behind their decimals', async () => {
    for (const zeros of ['', '0', '0000', '00000000']) {
      const share = `33.33${zeros}`
      expect((await stageText(HEADER + track(share, share, share), EXACT)).accepted).toBe(true)
      const above = await stageText(HEADER + track(share, share, `33.36${zeros}`), EXACT)
      expect(verdictsOf(above)).toEqual(['2:- sum-above-100'])
    }
  })

  test('are judged per right type', async () => {
    const text = `${HEADER}KRA012600001,P,A,100.00\nKRA012600001,M,A,100.00\nKRA012600001,M,B,1.01\n`
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
