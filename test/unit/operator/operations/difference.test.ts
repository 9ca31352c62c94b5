import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CHANGES_HEADER, Changes, PARTIES_HEADER } from '../../../../operator/operations/changes.ts'
import { compare, type RowSet } from '../../../../operator/operations/difference.ts'

/* How many rows of a new file are new, gone, changed or as they were, against a count by maps. */
type Rows = ReadonlyMap<string, string>

/** Cuts rows into chunks of the given sizes, over and over; notes which chunks were read. */
const setOf = (rows: Rows, sizes: readonly number[]) => {
  const lines = [...rows].map(([key, share]) => `${key}\t${share}\n`).sort()
  const bodies: Buffer[] = []
  for (let from = 0, turn = 0; from < lines.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    bodies.push(Buffer.from(lines.slice(from, from + size).join('')))
    from += size
  }
  const read: number[] = []
  const set: RowSet = {
    chunks: bodies.map((body) => ({
      digest: createHash('sha256').update(body).digest('hex'),
      rows: body.toString().split('\n').length - 1,
    })),
    body: async (number) => {
      read.push(number)
      return bodies[number] as Buffer
    },
  }
  return { set, read }
}

const expected = (now: Rows, before: Rows) => {
  const keys = [...now.keys()]
  return {
    added: keys.filter((key) => !before.has(key)).length,
    removed: [...before.keys()].filter((key) => !now.has(key)).length,
    changed: keys.filter((key) => before.has(key) && before.get(key) !== now.get(key)).length,
    unchanged: keys.filter((key) => before.get(key) === now.get(key)).length,
  }
}

/** Few different keys, so that two sets meet; parties that begin alike, so that the order of a tab matters. */
const key = fc
  .tuple(
    fc.constantFrom('KRA012600001', 'KRA012600002', 'USA012600001'),
    fc.constantFrom('M', 'MX', 'P'),
    fc.stringMatching(/^[A-C.1]{1,3}$/),
  )
  .map((parts) => parts.join('\t'))
const rowsOf = fc
  .dictionary(key, fc.constantFrom('25.000000', '50.000000'))
  .map((rows) => new Map(Object.entries(rows)))
const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 })

test('the counts are those of the two sets of rows, however each is cut into chunks', async () => {
  await fc.assert(
    fc.asyncProperty(rowsOf, rowsOf, sizes, sizes, async (now, before, nowSizes, beforeSizes) => {
      const counts = await compare(setOf(now, nowSizes).set, setOf(before, beforeSizes).set)
      expect(counts).toEqual(expected(now, before))
    }),
    { numRuns: 500 },
  )
})

test('chunks that are the same on both sides are counted and not read', async () => {
  const rows = (share: string): Rows =>
    new Map(Array.from({ length: 9 }, (_, index) => [`KRA01260000${index}\tP\tA`, index === 4 ? share : '10.000000']))
  const [now, before] = [setOf(rows('20.000000'), [3]), setOf(rows('10.000000'), [3])]
  expect(await compare(now.set, before.set)).toEqual({ added: 0, removed: 0, changed: 1, unchanged: 8 })
  expect([now.read, before.read]).toEqual([[1], [1]])
})

test('a chunk that cannot be read fails the comparison', async () => {
  const { set } = setOf(new Map([['KRA012600001\tP\tA', '10.000000']]), [1])
  const broken: RowSet = { ...set, body: () => Promise.reject(new Error('damaged')) }
  await expect(compare(broken, setOf(new Map(), [1]).set)).rejects.toThrow('damaged')
})

/** Every changed row by maps: `key share-before share-after`, and the exact sum of differences of each party. */
const changesOf = (now: Rows, before: Rows) => {
  const keys = [...new Set([...now.keys(), ...before.keys()])].sort().filter((key) => now.get(key) !== before.get(key))
  const parties = new Map<string, number>()
  for (const key of keys) {
    const party = key.split('\t')[2] ?? ''
    parties.set(party, (parties.get(party) ?? 0) + Number(now.get(key) ?? 0) - Number(before.get(key) ?? 0))
  }
  return { keys, parties }
}

test('every changed row and every party is a line of CSV, and the largest of them are shown first', async () => {
  await fc.assert(
    fc.asyncProperty(rowsOf, rowsOf, sizes, sizes, async (now, before, nowSizes, beforeSizes) => {
      let csv = ''
      const changes = new Changes(async (lines) => {
        csv += lines
      })
      await compare(setOf(now, nowSizes).set, setOf(before, beforeSizes).set, changes)
      const { keys, parties } = changesOf(now, before)
      const rows = keys.map((key) => [...key.split('\t'), before.get(key) ?? '', now.get(key) ?? ''].join(','))
      const lines = csv.replace(CHANGES_HEADER, '').split('\n').filter(Boolean)
      expect(lines.map((line) => line.split(',').slice(1, 6).join(','))).toEqual(rows)
      const told = [...changes.partyLines()].slice(1).map((line) => line.trimEnd().split(','))
      expect(new Map(told.map(([party, , , , difference]) => [party, Number(difference)]))).toEqual(parties)
      const weights = told.map((line) => Math.abs(Number(line[4])))
      expect(weights).toEqual(weights.toSorted((a, b) => b - a))
    }),
    { numRuns: 300 },
  )
})

test('of many changes the largest are kept, whatever order they are found in', async () => {
  const isrc = (row: number): string => `KRA0126${String(row).padStart(5, '0')}`
  const shareOf = (row: number): string => `${((row * 37) % 100) + 1}.000000`
  const rows: Rows = new Map(Array.from({ length: 100 }, (_, row) => [`${isrc(row)}\tP\tA`, shareOf(row)]))
  const changes = new Changes()
  await compare(setOf(new Map(), [1]).set, setOf(rows, [7]).set, changes)
  const { largest, parties, partiesChanged } = changes.summary
  expect(largest.map(({ difference }) => difference)).toEqual(
    Array.from({ length: 10 }, (_, at) => `-${100 - at}.000000`),
  )
  expect(largest[0]).toMatchObject({ rightType: 'P', party: 'A', before: '100.000000', after: null })
  expect({ parties, partiesChanged }).toEqual({
    parties: [{ party: 'A', rows: 100, before: '5050.000000', after: '0.000000', difference: '-5050.000000' }],
    partiesChanged: 1,
  })
  expect([...changes.partyLines()]).toEqual([PARTIES_HEADER, 'A,100,5050.000000,0.000000,-5050.000000\n'])
})
