import { createHash } from 'node:crypto'
import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { chunkKey, type Manifest, manifestKey } from '../../../../functions/contract/manifest.ts'
import { CANONICAL } from '../../../../functions/contract/profile.ts'
import type { SourceRules } from '../../../../functions/contract/source-refusals.ts'
import { cutChunks } from '../../../../functions/job/staging/cut-chunks.ts'
import { makeStaged } from '../../../../functions/job/staging/make-staged.ts'
import { RowTable } from '../../../../functions/job/staging/row-table.ts'
import { findHoles, readChunks, requireObjects } from '../../../../functions/store/s3/staged.ts'
import { writeStaged } from '../../../../functions/store/s3/write-staged.ts'
import { failureOf, useBucket } from '../../../support/bucket.ts'
/*
 * A staged source whose objects are lost, cut or changed under a manifest that is whole: found on every way to it, named,
 * and closed by staging the same rows again.
 */
import { NO_CONFIRMATION } from '../../../support/staging.ts'

const BUCKET = 'sharelock-holes'
const CHUNKS = 9
const AT_MOST: SourceRules = { sumRule: 'at-most', partyScheme: 'opaque' }

const { s3, put, remove, get } = useBucket(BUCKET)

/** Nine tracks of two parties, a track a chunk. */
const source = () => {
  const table = new RowTable()
  for (let track = 0; track < CHUNKS; track++)
    for (const party_id of ['A', 'B'])
      table.add(
        { isrc: `KRA01260000${track}`, right_type: 'P', party_id, share: { units: 33_330_000, decimals: 2 } },
        1,
      )
  return cutChunks(table.sorted(), 2)
}
const { manifest, body } = source()
const { digest } = manifest
const key = (number: number): string => chunkKey(digest, number)

const context = (rules = AT_MOST) => ({
  s3: s3(),
  bucket: BUCKET,
  slice: { distributorId: 1, distributor: 'ARIA', month: '2026-10' },
  rules,
  profile: { version: 0, profile: CANONICAL },
  policy: NO_CONFIRMATION,
  execution: 'holes',
})

const readAll = async (of: Manifest = manifest): Promise<Buffer[]> => {
  const bodies: Buffer[] = []
  for await (const each of readChunks(s3(), BUCKET, of)) bodies.push(each)
  return bodies
}

const isWhole = async (): Promise<void> => {
  expect(await findHoles(s3(), BUCKET, digest)).toEqual([])
  for (let number = 0; number < CHUNKS; number++) expect(await get(key(number))).toEqual(body(number))
}

/** The same number of bytes, and rows that are rows. */
const otherParty = (): Buffer => Buffer.from(body(4).toString().replace('\tA\t', '\tC\t'))

beforeEach(() => writeStaged(s3(), BUCKET, manifest, body))

const HOLES: [string, string, () => Promise<unknown>][] = [
  ['an object is gone', key(4), () => remove(key(4))],
  ['the last object is gone', key(CHUNKS - 1), () => remove(key(CHUNKS - 1))],
  ['an object is cut', key(4), () => put(key(4), body(4).subarray(0, 20))],
  ['an object is empty', key(4), () => put(key(4), Buffer.alloc(0))],
  ['an object has another content of the same size', key(4), async () => put(key(4), otherParty())],
  ['an object is another one of the set', key(4), () => put(key(4), body(5))],
  ['the manifest is gone', manifestKey(digest), () => remove(manifestKey(digest))],
  ['the manifest is cut', manifestKey(digest), () => put(manifestKey(digest), JSON.stringify(manifest).slice(0, 99))],
]

describe.each(HOLES)('where %s', (_, damagedKey, damage) => {
  test('the staged source is refused by name before a job can begin, and staging the same rows again closes the hole', async () => {
    await damage()
    const failure = await failureOf(makeStaged({ staged: digest }, context()))
    expect(failure.name).toBe('StagedSourceDamaged')
    expect(failure.message).toContain(`The staged object ${damagedKey} `)
    await writeStaged(s3(), BUCKET, manifest, body)
    await isWhole()
    expect(await makeStaged({ staged: digest }, context())).toMatchObject({ digest, chunks: CHUNKS })
  })
})

describe('a look at the names', () => {
  test('sees every object that is gone or has another size, and names the first', async () => {
    await requireObjects(s3(), BUCKET, digest)
    await remove(key(2))
    await put(key(6), body(6).subarray(1))
    expect(await findHoles(s3(), BUCKET, digest)).toEqual([
      { key: key(2), problem: 'is missing' },
      { key: key(6), problem: `has ${body(6).length - 1} bytes instead of ${body(6).length}` },
    ])
    const failure = await failureOf(requireObjects(s3(), BUCKET, digest))
    expect(failure.name).toBe('StagedSourceDamaged')
    expect(failure.message).toContain(`${key(2)} is missing, and 1 more of its folder`)
  })

  test('sees that the manifest is gone although every chunk is there', async () => {
    await remove(manifestKey(digest))
    expect((await failureOf(requireObjects(s3(), BUCKET, digest))).message).toContain(manifestKey(digest))
  })

  test('asks for no object whose name is not there: who may list some prefixes only is answered "forbidden" then', async () => {
    await remove(manifestKey(digest))
    const send = vi.spyOn(s3(), 'send')
    expect(await findHoles(s3(), BUCKET, digest)).toEqual([{ key: manifestKey(digest), problem: 'is missing' }])
    expect(send.mock.calls.filter(([command]) => command instanceof GetObjectCommand)).toEqual([])
    send.mockRestore()
  })

  test('goes through all pages of a large set', async () => {
    const send = vi.spyOn(s3(), 'send')
    const many = { ...manifest, digest: 'e'.repeat(64), rows: 2 * 1_100 }
    const chunks = Array.from({ length: 1_100 }, (_, number) => ({ ...manifest.chunks[0], number }))
    await put(manifestKey(many.digest), JSON.stringify({ ...many, chunks }))
    for (let from = 0; from < 1_100; from += 50)
      await Promise.all(Array.from({ length: 50 }, (_, n) => put(chunkKey(many.digest, from + n), body(0))))
    send.mockClear()
    expect(await findHoles(s3(), BUCKET, many.digest)).toEqual([])
    expect(send.mock.calls.filter(([command]) => command instanceof ListObjectsV2Command)).toHaveLength(2)
    await remove(chunkKey(many.digest, 1_099))
    expect(await findHoles(s3(), BUCKET, many.digest)).toEqual([
      { key: chunkKey(many.digest, 1_099), problem: 'is missing' },
    ])
    send.mockRestore()
  })
})

describe('reading all of a set', () => {
  test('gives the bodies in order and never has more than five in memory', async () => {
    const send = vi.spyOn(s3(), 'send')
    let taken = 0
    for await (const each of readChunks(s3(), BUCKET, manifest)) {
      expect(each).toEqual(body(taken))
      taken += 1
      expect(send.mock.calls.length - taken).toBeLessThanOrEqual(4)
    }
    expect(taken).toBe(CHUNKS)
    send.mockRestore()
  })

  test('finds an object whose rows are not as many as the manifest says', async () => {
    const [first, second, ...others] = manifest.chunks
    if (first === undefined || second === undefined) throw new Error('two chunks at least')
    const moved = { ...manifest, chunks: [{ ...first, rows: 3 }, { ...second, rows: 1 }, ...others] }
    expect((await failureOf(readAll(moved))).message).toContain(`${key(0)} has not the 3 rows of its manifest`)
  })

  test('that stops early leaves no request behind', async () => {
    const send = vi.spyOn(s3(), 'send')
    for await (const _ of readChunks(s3(), BUCKET, manifest)) break
    const answers = await Promise.all(
      send.mock.results.map(({ value }) => Promise.race([value, Promise.resolve('still open')])),
    )
    expect(answers).not.toContain('still open')
    send.mockRestore()
  })

  test.each([
    ['shareSum', '600.000000'],
    ['tracks', 8],
    ['parties', 3],
  ])('refuses a manifest whose %s its objects do not come to', async (total, value) => {
    await put(manifestKey(digest), JSON.stringify({ ...manifest, [total]: value }))
    const failure = await failureOf(makeStaged({ staged: digest }, context()))
    expect(failure.name).toBe('StagedSourceDamaged')
    expect(failure.message).toContain(`promises ${value} as its ${total}`)
    await writeStaged(s3(), BUCKET, manifest, body)
    expect(await makeStaged({ staged: digest }, context())).toMatchObject({ digest })
  })
})

describe("today's rules", () => {
  const staged = async (shares: readonly string[], rules = AT_MOST, party = 'P'): Promise<string> => {
    const rows = shares.map((share, n) => `KRA012600001,P,${party}${n},${share}\n`).join('')
    const name = `incoming/${createHash('sha256').update(rows).digest('hex')}.csv`
    await put(name, `isrc,right_type,party_id,share\n${rows}`)
    return (await makeStaged({ key: name }, context(rules))).digest
  }

  test.each<[string, string, Partial<SourceRules>, readonly string[]]>([
    ['sums', 'is below 100', { sumRule: 'exact' }, ['50', '25']],
    ['party ids', 'is not an IPI name number', { partyScheme: 'ipi' }, ['50', '50']],
  ])('about %s refuse a set that was staged under other ones', async (_, sentence, changed, shares) => {
    const before = await staged(shares)
    expect(await makeStaged({ staged: before }, context())).toMatchObject({ digest: before })
    const failure = await failureOf(makeStaged({ staged: before }, context({ ...AT_MOST, ...changed })))
    expect(failure.name).toBe('SourceRejected')
    expect(failure.message).toContain(`the staged source ${before}, judged by the distributor's rules of today, has`)
    expect(failure.message).toContain(sentence)
    const report = JSON.parse((await get('rejected/ARIA/2026-10/holes.json')).toString())
    expect(report).toMatchObject({ key: manifestKey(before), total: expect.any(Number), encoding: 'ascii' })
  })

  test.each([
    ['two decimals', ['33.33', '33.33', '33.33']],
    ['one decimal', ['33.3', '33.3', '33.3']],
    ['six decimals', ['33.333333', '33.333333', '33.333333']],
    ['none', ['100']],
  ])('take the decimals of a set written with %s for what the file had, and accept it again', async (_, shares) => {
    const exact = { ...AT_MOST, sumRule: 'exact' } as const
    const accepted = await staged(shares, exact, 'Q')
    expect(await makeStaged({ staged: accepted }, context(exact))).toMatchObject({ digest: accepted })
  })
})
