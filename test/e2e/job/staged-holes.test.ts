import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { beforeTask } from '../../support/faults.ts'
import { expectHalted, expectSettled, fingerprintOf, jobsOf } from '../../support/invariants.ts'
import { replaceInPlace } from '../../support/replace-mode.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'
import type { TestSlice } from '../../support/test-stack.ts'

/*
 * An object of a staged source is gone or changed under its manifest, on every way by which a job gets its rows. Nothing is
 * deleted, the object is named, and starting the same file closes the hole.
 */
const on = useStack()

const OLD = shareFile(400, 91)
const NEW = shareFile(300, 92)

const keyOf = (digest: string | undefined): string => `staged/${digest}/000000.tsv`
const remove = (Key: string): Promise<unknown> =>
  on().s3.send(new DeleteObjectCommand({ Bucket: on().stack.aws.bucket, Key }))
/** Another party, in as many bytes. */
const change = async (key: string): Promise<void> =>
  await on().put(
    key,
    (await on().get(key)).replace(/\d\t(\d+\.\d+)\n/, (end) =>
      end.replace(/^\d/, (digit) => (digit === '1' ? '2' : '1')),
    ),
  )

const DAMAGE: [string, (key: string) => Promise<unknown>][] = [
  ['gone', remove],
  ['changed', change],
]

/** OLD and then NEW are registered. In place: no slot keeps OLD, so an undo registers it anew. */
const settled = async (how?: 'in place'): Promise<{ slice: TestSlice; old: string; now: string }> => {
  const slice = await on().newSlice()
  if (how === 'in place') await replaceInPlace(on(), slice)
  const digests: string[] = []
  for (const file of [OLD, NEW]) {
    const { output } = await on().run({ ...slice, source: await on().upload(file) })
    digests.push(output.staged?.digest ?? '')
  }
  return { slice, old: digests[0] ?? '', now: digests[1] ?? '' }
}

const expectRefused = async (slice: TestSlice, request: object, key: string): Promise<void> => {
  const end = await on().run({ ...slice, ...request })
  expect(end).toMatchObject({ status: 'FAILED', error: 'StagedSourceDamaged', output: {} })
  expect(end.cause).toContain(key)
}

test.each(DAMAGE)(
  'an undo to a set with an object %s changes nothing, and the same file heals it',
  async (_, damage) => {
    const { slice, old } = await settled()
    const jobs = await jobsOf(on(), slice)
    await damage(keyOf(old))
    await expectRefused(slice, { source: { undo: true } }, keyOf(old))
    await expectRefused(slice, { source: { staged: old } }, keyOf(old))
    expect(await jobsOf(on(), slice)).toEqual(jobs)
    await expectSettled(on(), slice, NEW)
    expect(await on().run({ ...slice, source: await on().upload(OLD) })).toMatchObject({ status: 'SUCCEEDED' })
    await expectSettled(on(), slice, OLD)
    expect(await on().run({ ...slice, source: { undo: true } })).toMatchObject({ status: 'SUCCEEDED' })
    await expectSettled(on(), slice, NEW)
  },
)

test.each(DAMAGE)(
  'a set with an object %s is healed by the same file although it is registered already',
  async (_, damage) => {
    const { slice, now } = await settled()
    await damage(keyOf(now))
    const again = await on().run({ ...slice, source: await on().upload(NEW) })
    expect(again).toMatchObject({ status: 'SUCCEEDED', output: { job: { outcome: 'already registered' } } })
    expect(await on().run({ ...slice, source: { staged: now }, force: true })).toMatchObject({ status: 'SUCCEEDED' })
    await expectSettled(on(), slice, NEW)
  },
)

test('an object that goes after it was read, and before the first delete, halts the job with nothing deleted', async () => {
  const { slice, old } = await settled('in place')
  beforeTask(on(), 'PlanDelete', slice, async () => void (await remove(keyOf(old))))
  const before = await fingerprintOf(on(), slice)
  const end = await on().run({ ...slice, source: { undo: true } })
  expect(end).toMatchObject({ status: 'FAILED', error: 'StagedSourceDamaged' })
  expect(end.cause).toContain(`${keyOf(old)} is missing`)
  await expectHalted(on(), slice, 'DELETING', 'StagedSourceDamaged')
  expect(await fingerprintOf(on(), slice)).toBe(before)
  // A resume is refused as long as the hole is there, and the job stays as it is.
  await expectRefused(slice, { source: { undo: true } }, keyOf(old))
  await expectRefused(slice, { source: { staged: old } }, keyOf(old))
  expect(await fingerprintOf(on(), slice)).toBe(before)
  const healed = await on().run({ ...slice, source: await on().upload(OLD) })
  expect(healed).toMatchObject({ status: 'SUCCEEDED', output: { job: { outcome: 'taken over' } } })
  await expectSettled(on(), slice, OLD)
})

test.each([
  ['BeginRegistering', 'DELETED'],
  ['RegisterChunk', 'REGISTERING'],
])('an object that goes before %s halts the job, and the same file goes on with it', async (task, _) => {
  const { slice, old } = await settled('in place')
  beforeTask(on(), task, slice, async () => void (await remove(keyOf(old))))
  expect(await on().run({ ...slice, source: { undo: true } })).toMatchObject({ error: 'StagedSourceDamaged' })
  const { id } = await expectHalted(on(), slice, 'REGISTERING', 'StagedSourceDamaged')
  await expectRefused(slice, { source: { staged: old } }, keyOf(old))
  const healed = await on().run({ ...slice, source: await on().upload(OLD) })
  expect(healed).toMatchObject({ status: 'SUCCEEDED', output: { job: { id, outcome: 'taken over' } } })
  await expectSettled(on(), slice, OLD)
})

test('a manifest that goes before its chunks are planned halts the job in DELETED, and the same file goes on with it', async () => {
  const { slice, old } = await settled('in place')
  const manifest = `staged/${old}/manifest.json`
  beforeTask(on(), 'BeginRegistering', slice, async () => void (await remove(manifest)))
  expect(await on().run({ ...slice, source: { undo: true } })).toMatchObject({ error: 'StagedSourceDamaged' })
  await expectHalted(on(), slice, 'DELETED', 'StagedSourceDamaged')
  expect(await on().run({ ...slice, source: await on().upload(OLD) })).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, OLD)
})

test("a set that the distributor's rules of today refuse is not registered again by an undo", async () => {
  const { slice, old } = await settled()
  await on().outside.query(`update distributor set party_scheme = 'ipi' where code = ?`, [slice.distributor])
  for (const source of [{ undo: true }, { staged: old }]) {
    const end = await on().run({ ...slice, source })
    expect(end).toMatchObject({ status: 'FAILED', error: 'SourceRejected' })
    expect(end.cause).toContain("judged by the distributor's rules of today")
    expect(end.cause).toContain('IPI name number')
  }
  await expectSettled(on(), slice, NEW)
  expect(await jobsOf(on(), slice)).toHaveLength(2)
})
