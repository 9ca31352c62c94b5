import { createHash } from 'node:crypto'
import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { describe, expect, test, vi } from 'vitest'
import { chunkKey, Manifest, manifestKey } from '../../../../functions/contract/manifest.ts'
import { CANONICAL, Profile } from '../../../../functions/contract/profile.ts'
import { makeStaged } from '../../../../functions/job/staging/make-staged.ts'
import { readManifest } from '../../../../functions/store/s3/staged.ts'
import { openSource } from '../../../../functions/store/s3/uploaded.ts'
import { failureOf, useBucket } from '../../../support/bucket.ts'
import { AT_MOST, EXACT, HEADER, NO_CONFIRMATION } from '../../../support/staging.ts'

const BUCKET = 'sharelock-stage'
const SLICE = { distributorId: 1, distributor: 'ARIA', month: '2026-10' }
const GOOD = `${HEADER}KRA012600002,P,A,100\nKRA012600001,P,B,50\nKRA012600001,P,A,50\n`

const STAGED = 'KRA012600001\tP\tA\t50.000000\nKRA012600001\tP\tB\t50.000000\nKRA012600002\tP\tA\t100.000000\n'
const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
const { s3, put, get, keys } = useBucket(BUCKET)
const context = (execution: string, rules = AT_MOST) => ({
  ...{ s3: s3(), bucket: BUCKET, slice: SLICE, rules, policy: NO_CONFIRMATION, execution },
  profile: { version: 0, profile: CANONICAL },
})

describe('makeStaged', () => {
  test('writes the chunks and the manifest of a good file and says what they hold', async () => {
    await put('incoming/good.csv', GOOD)
    const staged = await makeStaged({ key: 'incoming/good.csv' }, context('first', EXACT))
    expect(staged).toEqual({ digest: staged.digest, rows: 3, shareSum: '200.000000', chunks: 1, profile: 0 })
    expect((await get(`staged/${staged.digest}/000000.tsv`)).toString()).toBe(STAGED)
    const manifest = Manifest.parse(JSON.parse((await get(`staged/${staged.digest}/manifest.json`)).toString()))
    expect(manifest).toMatchObject({ digest: staged.digest, tracks: 2, parties: 2 })
    expect(manifest.chunks[0]).toMatchObject({
      digest: sha256(STAGED),
      firstIsrc: 'KRA012600001',
      bytes: STAGED.length,
    })
    expect(await readManifest(s3(), BUCKET, staged.digest)).toEqual(manifest)
    expect(await makeStaged({ staged: staged.digest }, context('undo'))).toEqual({ ...staged, profile: undefined })
  })

  test('reads a file by the profile of its distributor, and a staged source by none', async () => {
    await put('incoming/good.csv', GOOD)
    await put('incoming/good.tsv', GOOD.replaceAll(',', '\t'))
    const tabs = { version: 3, profile: Profile.parse({ format: { kind: 'tsv' } }) }
    const staged = await makeStaged({ key: 'incoming/good.tsv' }, { ...context('tabs'), profile: tabs })
    expect(staged).toEqual({ ...(await makeStaged({ key: 'incoming/good.csv' }, context('commas'))), profile: 3 })
    const again = await makeStaged({ staged: staged.digest }, { ...context('again'), profile: tabs })
    expect(again.digest).toBe(staged.digest)
    const wrong = makeStaged({ key: 'incoming/good.csv' }, { ...context('wrong'), profile: tabs })
    await expect(wrong).rejects.toThrow(/the file incoming\/good.csv, read by version 3 of its profile, has 1 error /)
  })

  test('writes nothing where the same content is staged already, and only what is missing where it has a hole', async () => {
    await put('incoming/once.csv', `${HEADER}KRA012600009,P,A,10\n`)
    const { digest } = await makeStaged({ key: 'incoming/once.csv' }, context('one'))
    await put('incoming/again.csv', `share,isrc,party_id,right_type\r\n10.0,KR-A01-26-00009,A,p\r\n`)
    const written = async (): Promise<string[]> => {
      const send = vi.spyOn(s3(), 'send')
      expect((await makeStaged({ key: 'incoming/again.csv' }, context('two'))).digest).toBe(digest)
      const puts = send.mock.calls.map(([command]) => command).filter((command) => command instanceof PutObjectCommand)
      send.mockRestore()
      return puts.map(({ input }) => input.Key ?? '')
    }
    expect(await written()).toEqual([])
    await s3().send(new DeleteObjectCommand({ Bucket: BUCKET, Key: chunkKey(digest, 0) }))
    expect(await written()).toEqual([chunkKey(digest, 0)])
    expect((await get(chunkKey(digest, 0))).toString()).toBe('KRA012600009\tP\tA\t10.000000\n')
    await s3().send(new DeleteObjectCommand({ Bucket: BUCKET, Key: manifestKey(digest) }))
    expect(await written()).toEqual([manifestKey(digest)])
  })

  test('refuses a bad file with a report, and stages nothing', async () => {
    const before = await keys('staged/')
    const bad = Array.from({ length: 150 }, (_, n) => `KRA012600001,P,A${n},33.3%\n`).join('')
    await put('incoming/bad.csv', HEADER + bad)
    const execution = 'arn:aws:states:ap-northeast-2:000000000000:execution:sharelock:ARIA-2026-10-1'
    const failure = await failureOf(makeStaged({ key: 'incoming/bad.csv' }, context(execution)))
    expect(failure.name).toBe('SourceRejected')
    expect(failure.message).toBe(
      'ARIA 2026-10: the file incoming/bad.csv has 150 errors and nothing was changed: ' +
        [2, 3, 4]
          .map((line) => `line ${line}, column 4: share "33.3%" has a percent sign; write the number alone, e.g. 33.3`)
          .join('; ') +
        `; and 147 more. The report is s3://${BUCKET}/rejected/ARIA/2026-10/ARIA-2026-10-1.json`,
    )
    const report = JSON.parse((await get('rejected/ARIA/2026-10/ARIA-2026-10-1.json')).toString())
    expect(report).toMatchObject({
      version: 1,
      distributor: 'ARIA',
      month: '2026-10',
      key: 'incoming/bad.csv',
      execution,
      encoding: 'ascii',
      compressed: false,
      records: 150,
      total: 150,
    })
    expect(report.errors).toHaveLength(100)
    expect(await keys('staged/')).toEqual(before)
  })

  test('repeated by the same execution writes the same report', async () => {
    await put('incoming/empty.csv', Buffer.alloc(0))
    for (let run = 0; run < 2; run++) {
      const failure = await failureOf(makeStaged({ key: 'incoming/empty.csv' }, context('empty-run')))
      expect(failure.message).toContain('has 1 error and nothing was changed: the file has no row of shares.')
    }
    expect(await keys('rejected/ARIA/2026-10/empty-run')).toEqual(
      ['csv', 'html', 'json'].map((form) => `rejected/ARIA/2026-10/empty-run.${form}`),
    )
  })

  test('of a file that is not there says so', async () => {
    const failure = await failureOf(makeStaged({ key: 'incoming/none.csv' }, context('none')))
    expect(failure.name).toBe('SourceMissing')
    expect(failure.message).toContain('incoming/none.csv')
  })

  test('of a staged source that is not there says so', async () => {
    const failure = await failureOf(makeStaged({ staged: 'a'.repeat(64) }, context('none')))
    expect(failure.name).toBe('StagedSourceDamaged')
  })

  test('tells how far it has read', async () => {
    await put('incoming/progress.csv', GOOD)
    const seen: number[] = []
    await makeStaged(
      { key: 'incoming/progress.csv' },
      { ...context('progress'), onProgress: (records) => seen.push(records) },
    )
    expect(seen.length).toBeGreaterThan(0)
  })

  test('names its report after the execution, in characters of a key and shortened', async () => {
    await put('incoming/bad/3.csv', `${HEADER}${[1, 2, 3].map((n) => `KRA012600001,P,A${n},x\n`).join('')}`)
    const report = async (execution: string): Promise<string | undefined> => {
      const { message } = await failureOf(makeStaged({ key: 'incoming/bad/3.csv' }, context(execution)))
      expect(message).toContain('has 3 errors')
      expect(message).not.toContain('more')
      return /rejected\/ARIA\/2026-10\/(.*)\.json$/.exec(message)?.[1]
    }
    expect(await report(`arn:aws:states:x:0:execution:job:${'n'.repeat(200)}`)).toBe('n'.repeat(80))
    expect(await report('arn:aws:states:x:0:execution:job:a b/c')).toBe('a_b_c')
  })

  test('of a bucket that is not there is no missing file', async () => {
    const lost = makeStaged({ key: 'incoming/good.csv' }, { ...context('lost'), bucket: 'no-such-bucket' })
    await expect(lost).rejects.not.toMatchObject({ name: 'SourceMissing' })
  })

  test('is not changed by an upload under the same key while it reads', async () => {
    const rows = Array.from({ length: 100_000 }, (_, n) => `KRA01${2_600_000 + n},P,A,1\n`).join('')
    await put('incoming/swapped.csv', HEADER + rows)
    const { bytes } = await openSource(s3(), BUCKET, 'incoming/swapped.csv')
    const parts: Buffer[] = []
    for await (const part of bytes) {
      if (parts.length === 0) await put('incoming/swapped.csv', GOOD)
      parts.push(part)
    }
    expect(sha256(Buffer.concat(parts))).toBe(sha256(HEADER + rows))
  })
})
