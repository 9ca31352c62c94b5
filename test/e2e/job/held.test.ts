import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { jobsOf } from '../../support/invariants.ts'
import { named, useOperator } from '../../support/operator.ts'
import { useStack } from '../../support/stack.ts'

/* A distributor whose over-claims are held: the rest of the month is registered, and nobody loses sight of what was left out. */
const on = useStack()
const operator = useOperator(on)
const HEADER = 'isrc,right_type,party_id,share\n'
const csv = `${HEADER}KRA012600001,PERFORMANCE,A,100\nKRA012600002,PERFORMANCE,A,60\nKRA012600002,PERFORMANCE,B,60\nKRA012600003,PERFORMANCE,B,50\n`
const HELD = { rows: 2, shareSum: '120.000000', tracks: 1 }

const digestOf = async (job: number | undefined): Promise<string> => {
  const [row] = await on().rows<{ digest: string }>('select source_digest as digest from job where id = ?', [job ?? 0])
  return row?.digest ?? ''
}

test('held rows are in the manifest, beside it, in the job, the report and the event, and not in the month', async () => {
  const slice = await on().newSlice('2026-10', { overClaim: 'hold' })
  const end = await on().run({ ...slice, source: await on().upload({ csv }) })
  expect(end).toMatchObject({ status: 'SUCCEEDED' })
  const tracks = await on().rows<{ isrc: string }>(
    `select isrc from settled_share_ratio where distributor = ? order by isrc`,
    [slice.distributor],
  )
  expect(tracks.map(({ isrc }) => isrc)).toEqual(['KRA012600001', 'KRA012600003'])
  const [job] = await jobsOf(on(), slice)
  const digest = await digestOf(job?.id)
  const manifest = JSON.parse(await on().get(`staged/${digest}/manifest.json`))
  expect(manifest).toMatchObject({ rows: 2, held: { ...HELD, file: { rows: 4, shareSum: '270.000000' } } })
  expect(await on().get(`staged/${digest}/held.tsv`)).toBe(
    'KRA012600002\tPERFORMANCE\tA\t60.000000\nKRA012600002\tPERFORMANCE\tB\t60.000000\n',
  )
  const report = `rejected/${slice.distributor}/2026-10/${end.name}`
  expect(JSON.parse(await on().get(`${report}.json`))).toMatchObject({ total: 0, held: HELD })
  expect(await on().get(`${report}.csv`)).toContain('KRA012600002 PERFORMANCE B 60.000000')
  expect(await on().get(`${report}.html`)).toContain('KRA012600002')
  const [event] = await on().rows<{ payload: object }>(`select payload from outbox where job_id = ?`, [job?.id ?? 0])
  expect(event?.payload).toMatchObject({ rows: 2, held: { ...HELD, firstTracks: ['KRA012600002'] } })
  const { stdout } = await operator.call('show', ...named(slice))
  expect(stdout).toContain('2 rows of 1 track above 100, sum 120.000000: KRA012600002')
})

test('where registered and held are not the file, the job halts and does not come to REGISTERED', async () => {
  const slice = await on().newSlice('2026-10', { overClaim: 'hold' })
  const source = await on().upload({ csv: csv.replaceAll('KRA0126', 'KRA0127') })
  expect(await on().run({ ...slice, source })).toMatchObject({ status: 'SUCCEEDED' })
  const [first] = await jobsOf(on(), slice)
  const digest = await digestOf(first?.id)
  await on().rows('update held_set set file_rows = 5 where source_digest = ?', [digest])
  const end = await on().run({ ...slice, source, force: true })
  expect(end).toMatchObject({ status: 'FAILED', error: 'SliceMismatch' })
  expect(end.cause).toContain('has 4 rows summing to 270.000000, registered and held together; the file has 5 rows')
})

test('a held object that is gone is a hole, and starting the file again closes it', async () => {
  const slice = await on().newSlice('2026-10', { overClaim: 'hold' })
  const source = await on().upload({ csv: csv.replaceAll('KRA0126', 'KRA0128') })
  expect(await on().run({ ...slice, source })).toMatchObject({ status: 'SUCCEEDED' })
  const [job] = await jobsOf(on(), slice)
  const digest = await digestOf(job?.id)
  const Key = `staged/${digest}/held.tsv`
  await on().s3.send(new DeleteObjectCommand({ Bucket: on().stack.aws.bucket, Key }))
  const end = await on().run({ ...slice, source: { staged: digest }, force: true })
  expect(end).toMatchObject({ status: 'FAILED', error: 'StagedSourceDamaged' })
  expect(end.cause).toContain(`${Key} is missing`)
  expect(await on().run({ ...slice, source })).toMatchObject({ status: 'SUCCEEDED' })
  expect(await on().get(Key)).toContain('KRA012800002')
})

test('the command sets the rule and keeps it, and a plan shows what will be held', async () => {
  const slice = await on().newSlice()
  const set = (...args: string[]) => operator.json('distributors', 'set', slice.distributor, ...args)
  expect(await set('--over-claim', 'hold')).toMatchObject({ code: 0, overClaim: 'hold' })
  expect(await set('--sum-rule', 'at-most')).toMatchObject({ code: 0, overClaim: 'hold' })
  const path = await operator.file('over.csv', { csv })
  const { code, stdout } = await operator.call('start', ...named(slice), '--yes', '--file', path)
  expect(stdout).toMatch(/hold back\s+2 rows of 1 track above 100, sum 120.000000: KRA012600002/)
  expect(code).toBe(0)
})
