import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HELD_ROWS_MAX } from '../../../../functions/contract/source-limits.ts'
import type { SourceRules } from '../../../../functions/contract/source-refusals.ts'
import { errorsOf, HEADER, linesOf, stageText } from '../../../support/staging.ts'

/* Under the rule `hold` a track above 100 is left out whole and listed; registered and held are the file. */
const HOLD: SourceRules = { sumRule: 'at-most', partyScheme: 'opaque', overClaim: 'hold' }
const isrc = (number: number): string => `KRA01${String(number).padStart(7, '0')}`
const row = (track: number, right: string, party: string, share: string) =>
  `${isrc(track)},${right},${party},${share}\n`

const sourceOf = async (csv: string, rules = HOLD) => {
  const result = await stageText(csv, rules)
  if (!result.accepted) throw new Error(`refused: ${JSON.stringify(result.rejection.errors.slice(0, 3))}`)
  return result.source
}

describe('a track above 100', () => {
  const csv = `${HEADER}${row(2, 'P', 'B', '60')}${row(1, 'P', 'A', '100')}${row(2, 'P', 'A', '60')}${row(2, 'M', 'A', '10')}${row(3, 'P', 'B', '50')}`

  test('is left out with all its right types, and counted beside what is registered and the file', async () => {
    const { manifest, heldBody } = await sourceOf(csv)
    expect(manifest).toMatchObject({ rows: 2, shareSum: '150.000000', tracks: 2, parties: 2 })
    const lines = [`${isrc(2)}\tM\tA\t10.000000`, `${isrc(2)}\tP\tA\t60.000000`, `${isrc(2)}\tP\tB\t60.000000`]
    expect(heldBody?.toString()).toBe(`${lines.join('\n')}\n`)
    expect(manifest.held).toEqual({
      rows: 3,
      shareSum: '130.000000',
      tracks: 1,
      firstTracks: [isrc(2)],
      bytes: heldBody?.length,
      digest: createHash('sha256')
        .update(heldBody ?? '')
        .digest('hex'),
      file: { rows: 5, shareSum: '280.000000' },
    })
  })

  test('refuses the file where the rule is refuse, and where there is no rule', async () => {
    for (const overClaim of ['refuse', undefined] as const)
      expect(errorsOf(await stageText(csv, { ...HOLD, overClaim })).map(({ rule }) => rule)).toEqual(['sum-above-100'])
  })

  test('makes another staged source than the same rows without it, and the same in any order', async () => {
    const rest = `${HEADER}${row(1, 'P', 'A', '100')}${row(3, 'P', 'B', '50')}`
    const [held, alone] = [await sourceOf(csv), await sourceOf(rest)]
    expect(held.manifest.chunks).toEqual(alone.manifest.chunks)
    expect(held.manifest.digest).not.toBe(alone.manifest.digest)
    expect(alone.manifest.held).toBeUndefined()
    expect(alone.heldBody).toBeNull()
    const [header = '', ...rows] = csv.trimEnd().split('\n')
    expect((await sourceOf([header, ...rows.reverse()].join('\n'))).manifest.digest).toBe(held.manifest.digest)
  })

  test('is held for what is above the tolerance only, and a duplicate key is still an error', async () => {
    const thirds = `${HEADER}${row(1, 'P', 'A', '33.34')}${row(1, 'P', 'B', '33.33')}${row(1, 'P', 'C', '33.34')}`
    expect((await sourceOf(thirds)).manifest.held).toBeUndefined()
    const twice = `${HEADER}${row(1, 'P', 'A', '60')}${row(1, 'P', 'A', '60')}${row(2, 'P', 'A', '60')}`
    expect(errorsOf(await stageText(twice, HOLD)).map(({ rule }) => rule)).toEqual(['duplicate-key'])
  })

  test('alone is no file, and too many are none: the file itself is refused with each sum', async () => {
    const alone = HEADER + row(1, 'P', 'A', '60') + row(1, 'P', 'B', '60')
    expect(errorsOf(await stageText(alone, HOLD)).map(({ rule }) => rule)).toEqual(['held-rows', 'sum-above-100'])
    const tracks = HELD_ROWS_MAX / 2 + 1
    const many = Array.from({ length: tracks }, (_, n) => row(n, 'P', 'A', '60') + row(n, 'P', 'B', '60')).join('')
    const [first] = errorsOf(await stageText(HEADER + many + row(9_000_000, 'P', 'A', '1.5'), HOLD))
    expect(first?.rule).toBe('held-rows')
  }, 60_000)
})

test('registered and held are the file, row by row, whatever the shares are', async () => {
  const share = fc.integer({ min: 1, max: 100 })
  const rows = fc.uniqueArray(
    fc.tuple(fc.integer({ min: 1, max: 6 }), fc.constantFrom('M', 'P'), fc.integer({ min: 1, max: 4 }), share),
    {
      minLength: 1,
      maxLength: 30,
      selector: ([track, right, party]) => `${track} ${right} ${party}`,
    },
  )
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const csv =
        HEADER + given.map(([track, right, party, units]) => row(track, right, `P${party}`, `${units}`)).join('')
      const result = await stageText(csv, HOLD)
      const above = new Set<number>()
      const groups = Map.groupBy(given, ([track, right]) => `${track} ${right}`)
      for (const [, group] of groups) {
        const sum = group.reduce((total, [, , , units]) => total + units, 0)
        // Whole numbers: half a unit a party, one percentage point at most.
        if (sum - 100 > Math.min(1, group.length / 2)) above.add(group[0]?.[0] ?? 0)
      }
      const lines = given.map(
        ([track, right, party, units]) => [track, `${isrc(track)}\t${right}\tP${party}\t${units}.000000`] as const,
      )
      const [kept, left] = [false, true].map((isHeld) =>
        lines.filter(([track]) => above.has(track) === isHeld).map(([, line]) => line),
      )
      if (kept?.length === 0) {
        expect(result.accepted).toBe(false)
        return
      }
      if (!result.accepted) throw new Error(JSON.stringify(result.rejection))
      expect(linesOf(result).trimEnd().split('\n')).toEqual(kept?.sort())
      expect(result.source.heldBody?.toString().trimEnd().split('\n') ?? []).toEqual(left?.sort())
      expect(result.source.manifest.rows + (result.source.manifest.held?.rows ?? 0)).toBe(given.length)
    }),
    { numRuns: 300, seed: 20_261_130 },
  )
})
