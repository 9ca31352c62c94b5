import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { beforeTask, holdTask } from '../../support/faults.ts'
import { expectHalted, expectSettled, jobsOf, lockOf, rowsOf } from '../../support/invariants.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'
import type { TestSlice } from '../../support/test-stack.ts'

/* A chunk that fails for good, rows of strangers, and a lock that is gone: the state never advances over them. */
const on = useStack()
const OLD = shareFile(150, 71)
const NEW = shareFile(600, 72)
const CHUNK_ROWS = 50

const insertRow = async (slice: TestSlice, line: string): Promise<void> => {
  await on().outside.query(`insert into share_ratio select id, ?, 0, ?, ?, ?, ? from distributor where code = ?`, [
    `${slice.month}-01`,
    ...line.split('\t'),
    slice.distributor,
  ])
}

const objectKey = (digest: string, number: number) => `staged/${digest}/${String(number).padStart(6, '0')}.tsv`

test.each([
  ['cut short', (body: string) => body.slice(0, -30)],
  ['changed in one digit', (body: string) => body.replace(/0\n/, '1\n')],
  ['empty', () => ''],
  ['gone', undefined],
])(
  'a staged object that is %s once the old rows are deleted halts the job, and fixing it lets a resume end exactly',
  async (_, damage) => {
    const slice = await on().newSlice()
    await on().seed(slice, OLD)
    const source = await on().stage(NEW, CHUNK_ROWS)
    const key = objectKey(source.staged, 7)
    const body = await on().get(key)
    beforeTask(on(), 'BeginRegistering', slice, async () => {
      if (damage !== undefined) await on().put(key, Buffer.from(damage(body)))
      else await on().s3.send(new DeleteObjectCommand({ Bucket: on().stack.aws.bucket, Key: key }))
    })
    const end = await on().run({ ...slice, source })
    expect(end).toMatchObject({ status: 'FAILED', error: 'StagedSourceDamaged' })
    expect(end.cause).toContain(key)
    const halted = await expectHalted(on(), slice, 'REGISTERING', 'StagedSourceDamaged')
    expect(await rowsOf(on(), slice)).toBeLessThan(NEW.rows)
    await on().put(key, body)
    const resumed = await on().run({ ...slice, source })
    expect(resumed).toMatchObject({ status: 'SUCCEEDED', output: { job: { id: halted.id, outcome: 'taken over' } } })
    await expectSettled(on(), slice, NEW)
  },
)

test('a value that does not fit and a row that is there twice roll their chunk back: LOAD DATA would cut and skip them', async () => {
  for (const spoil of [
    (line: string) => line.replace(/KOMCA\.\d+/, 'P'.repeat(21)),
    (_: string, next: string) => next,
  ]) {
    const slice = await on().newSlice()
    const lines = NEW.lines.map((line, at) => (at === 70 ? spoil(line, NEW.lines[71] ?? '') : line))
    const source = await on().stage(NEW, CHUNK_ROWS)
    const spoilt = await on().stage({ ...NEW, lines, fingerprint: lines[70] ?? '' }, CHUNK_ROWS)
    // No rule lets such rows through: they take the place of the judged ones, manifest included, once all is deleted.
    const manifest = (staged: string) => `staged/${staged}/manifest.json`
    const whole = [manifest(source.staged), objectKey(source.staged, 1)] as const
    const bodies = await Promise.all(whole.map((key) => on().get(key)))
    beforeTask(on(), 'BeginRegistering', slice, async () => {
      await on().put(whole[0], (await on().get(manifest(spoilt.staged))).replace(spoilt.staged, source.staged))
      await on().put(whole[1], await on().get(objectKey(spoilt.staged, 1)))
    })
    const end = await on().run({ ...slice, source })
    expect(end).toMatchObject({ status: 'FAILED', error: 'ChunkMismatch' })
    await expectHalted(on(), slice, 'REGISTERING', 'ChunkMismatch')
    expect(await on().rows('select 1 from share_ratio where party_id = ?', ['P'.repeat(20)])).toEqual([])
    for (const [index, key] of whole.entries()) await on().put(key, bodies[index] ?? '')
  }
})

test("a stranger's row in one chunk fails that chunk for good: no resume helps, supersede with force does", async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const source = await on().stage(NEW, CHUNK_ROWS)
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  const first = await on().start({ ...slice, source })
  await atChunk.reached
  await insertRow(slice, NEW.lines[370] ?? '')
  atChunk.release()
  const end = await on().ended(first)
  expect(end).toMatchObject({ status: 'FAILED', error: 'ChunkMismatch' })
  expect(end.cause).toContain('Another program wrote to this slice.')
  const [halted] = await jobsOf(on(), slice)
  expect(halted).toMatchObject({ state: 'REGISTERING', halt_error: 'ChunkMismatch' })
  expect(await lockOf(on(), slice)).toBeNull()

  expect(await on().run({ ...slice, source })).toMatchObject({ status: 'FAILED', error: 'ChunkMismatch' })
  expect(await jobsOf(on(), slice)).toMatchObject([{ id: halted?.id, state: 'REGISTERING' }])

  const over = await on().run({ ...slice, source, supersede: true, force: true })
  expect(over).toMatchObject({ status: 'SUCCEEDED', output: { job: { outcome: 'superseding' } } })
  await expectSettled(on(), slice, NEW)
})

test("a stranger's row outside of every chunk is found before REGISTERED", async () => {
  const slice = await on().newSlice()
  const source = await on().stage(NEW, CHUNK_ROWS)
  const atMark = holdTask(on(), 'MarkRegistered', slice)
  const first = await on().start({ ...slice, source })
  await atMark.reached
  await insertRow(slice, 'ZZZZZ9999999\tPERFORMANCE\tSTRANGER\t1.000000')
  atMark.release()
  expect(await on().ended(first)).toMatchObject({ status: 'FAILED', error: 'SliceMismatch' })
  expect(await jobsOf(on(), slice)).toMatchObject([{ state: 'REGISTERING', halt_error: 'SliceMismatch' }])
  const over = await on().run({ ...slice, source, supersede: true, force: true })
  expect(over).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, NEW)
})

test("a stranger's row that appears while rows are deleted is deleted too, before anything is registered", async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const atMark = holdTask(on(), 'MarkDeleted', slice)
  const arn = await on().start({ ...slice, source: await on().stage(NEW, CHUNK_ROWS) })
  await atMark.reached
  await insertRow(slice, OLD.lines[3] ?? '')
  atMark.release()
  const end = await on().ended(arn)
  expect(end).toMatchObject({ status: 'SUCCEEDED', output: { replan: { Error: 'SliceNotEmpty' } } })
  await expectSettled(on(), slice, NEW)
})

test('a stranger who keeps inserting ends the job in DELETING, by name and after a bounded number of plans', async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const source = await on().stage(NEW, CHUNK_ROWS)
  const stop = on().stack.lambda.onInvoke(async ({ functionName }) => {
    if (functionName === 'MarkDeleted') await insertRow(slice, OLD.lines[3] ?? '')
  })
  const end = await on().run({ ...slice, source })
  stop()
  expect(end).toMatchObject({ status: 'FAILED', error: 'SliceKeepsFilling' })
  expect(await jobsOf(on(), slice)).toMatchObject([
    { state: 'DELETING', halt_error: 'SliceKeepsFilling', delete_plans: 5 },
  ])
})
