import { createHash } from 'node:crypto'
import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { describe, expect, test } from 'vitest'
import { chunkKey, type Manifest, manifestKey } from '../../../../functions/contract/manifest.ts'
import { readChunk, readManifest } from '../../../../functions/store/s3/staged.ts'
import { writeStaged } from '../../../../functions/store/s3/write-staged.ts'
import { failureOf, useBucket } from '../../../support/bucket.ts'

const BUCKET = 'sharelock-stage'
const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
const { s3, put, keys } = useBucket(BUCKET)

describe('a staged source', () => {
  const body = (number: number): Buffer => Buffer.from(`KRA01260000${number}\tP\tA\t1.000000\n`)
  const manifestFor = (digest: string, chunks: number): Manifest => ({
    version: 1,
    digest,
    rows: chunks,
    shareSum: `${chunks}.000000`,
    tracks: chunks,
    parties: 1,
    chunks: Array.from({ length: chunks }, (_, number) => ({
      number,
      rows: 1,
      bytes: body(number).length,
      digest: sha256(body(number)),
      firstIsrc: `KRA01260000${number}`,
      lastIsrc: `KRA01260000${number}`,
    })),
  })

  test('is read chunk by chunk, each checked against its digest', async () => {
    const manifest = manifestFor('b'.repeat(64), 9)
    await writeStaged(s3(), BUCKET, manifest, body)
    for (const chunk of manifest.chunks)
      expect(await readChunk(s3(), BUCKET, manifest.digest, chunk)).toEqual(body(chunk.number))
    await put(chunkKey(manifest.digest, 4), body(5))
    const changed = await failureOf(readChunk(s3(), BUCKET, manifest.digest, { number: 4, digest: sha256(body(4)) }))
    expect(changed.name).toBe('StagedSourceDamaged')
    const missing = await failureOf(readChunk(s3(), BUCKET, manifest.digest, { number: 9, digest: sha256(body(9)) }))
    expect(missing.name).toBe('StagedSourceDamaged')
  })

  test.each([
    ['is no JSON', 'c', (text: string) => text.slice(1)],
    ['has a field too many', 'd', (text: string) => text.replace('{', '{"more":1,')],
    ['promises other rows than its chunks', 'e', (text: string) => text.replace('"rows":2', '"rows":3')],
    ['numbers its chunks in another way', '7', (text: string) => text.replace('"number":1', '"number":2')],
    ['is another one', 'f', (text: string) => text.replace('ffff', '0000')],
  ])('whose manifest %s is damaged, and staging it again fixes it', async (_, letter, damage) => {
    const manifest = manifestFor(letter.repeat(64), 2)
    await put(manifestKey(manifest.digest), damage(JSON.stringify(manifest)))
    expect((await failureOf(readManifest(s3(), BUCKET, manifest.digest))).name).toBe('StagedSourceDamaged')
    await writeStaged(s3(), BUCKET, manifest, body)
    expect(await readManifest(s3(), BUCKET, manifest.digest)).toEqual(manifest)
  })

  test('is asked for its manifest each time, so that one which is gone is noticed at once', async () => {
    const manifest = manifestFor('8'.repeat(64), 1)
    await writeStaged(s3(), BUCKET, manifest, body)
    expect(await readManifest(s3(), BUCKET, manifest.digest)).toEqual(manifest)
    await s3().send(new DeleteObjectCommand({ Bucket: BUCKET, Key: manifestKey(manifest.digest) }))
    expect((await failureOf(readManifest(s3(), BUCKET, manifest.digest))).name).toBe('StagedSourceDamaged')
  })

  test('makes a chunk only when it is written, a few at a time, and the manifest last', async () => {
    const manifest = manifestFor('1'.repeat(64), 9)
    const asked: number[] = []
    await writeStaged(s3(), BUCKET, manifest, (number) => {
      asked.push(number)
      return body(number)
    })
    expect(asked).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    expect(await keys(`staged/${manifest.digest}/`)).toHaveLength(10)
  })

  test('has no manifest if one chunk could not be made', async () => {
    const manifest = manifestFor('2'.repeat(64), 9)
    const failing = writeStaged(s3(), BUCKET, manifest, (number) => {
      if (number === 3) throw new Error('no memory')
      return body(number)
    })
    await expect(failing).rejects.toThrow('no memory')
    expect(await keys(manifestKey(manifest.digest))).toEqual([])
  })
})
