import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { EVENT_BYTES_MAX } from '../../../../functions/contract/support-limits.ts'
import { jobsOf } from '../../../support/invariants.ts'
import { named, useOperator } from '../../../support/operator.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

/*
 * `sharelock doctor` against disagreements made by hand. Each is found, explained, and fixed by the command that it
 * names; then it is found no more. The file has servers of its own: it breaks what others rely on.
 */
const on = useStack({ own: ['mysql', 'valkey'] })
const operator = useOperator(on)
const FILE = shareFile(400, 61)
const MONTH = ['--month', '2026-10']
type Finding = { readonly check: string; readonly severity: string; readonly what: string; readonly remedy: string }
type Diagnosis = { readonly code: number; readonly findings: readonly Finding[]; readonly checks: object | null }
const doctor = () => operator.json<Diagnosis>('doctor', ...MONTH)

/** The findings of one kind, of which there must be one. */
const only = async (check: string): Promise<Finding> => {
  const { code, findings } = await doctor()
  const found = findings.filter((finding) => finding.check === check)
  expect(found, JSON.stringify(findings)).toHaveLength(1)
  expect(code).toBe(9)
  return found[0] as Finding
}

const isGone = async (check: string): Promise<void> => {
  expect((await doctor()).findings.filter((finding) => finding.check === check)).toEqual([])
}

/** Types a command as the doctor printed it. */
const type = (remedy: string, ...more: string[]) =>
  operator.json(...remedy.replace(/^sharelock /, '').split(' '), ...more)

const settled = async (file = FILE): Promise<TestSlice> => {
  const slice = await on().newSlice()
  expect(await on().run({ ...slice, source: await on().upload(file) })).toMatchObject({ status: 'SUCCEEDED' })
  return slice
}

test('a success that was told and that the database does not hold is found, until the slice is registered again', async () => {
  const slice = await on().newSlice()
  const other = shareFile(300, 64)
  const end = await on().run({ ...slice, source: await on().upload(FILE) })
  const [job] = await jobsOf(on(), slice)
  const id = job?.id ?? 0
  const whole = async (change: string, ...values: (string | number)[]) =>
    await on().outside.query(`update job set ${change} where id = ?`, [...values, id])
  // As after a restore: another run was given the same number and fence, for another source.
  await whole(`execution = concat(execution, '-b'), lock_token = 'b/1'`)
  expect((await only('told-and-not-held')).what).toContain(
    `job ${id} was registered by ${end.arn}-b: the database went`,
  )
  await whole('execution = ?', end.arn)
  await whole(`source_digest = repeat('b', 64)`)
  expect((await only('told-and-not-held')).what).toContain(`job ${id} is that of the staged source ${'b'.repeat(64)}`)
  await whole('source_digest = ?', end.output.staged?.digest ?? '')
  await isGone('told-and-not-held')
  // And the job is not there at all.
  for (const table of ['outbox', 'job_chunk']) await on().outside.query(`delete from ${table} where job_id = ?`, [id])
  await on().outside.query('delete from job where id = ?', [id])
  const { what, remedy } = await only('told-and-not-held')
  expect(what).toMatch(new RegExp(`^The execution ${end.name} ended as a success: job ${id} of .* under fence 1`))
  expect(what).toContain(`the database has no job ${id} of it`)
  expect(remedy).toBe(`sharelock start ${named(slice).join(' ')} --file FILE --supersede --force`)
  expect(await on().run({ ...slice, source: await on().upload(other), force: true })).toMatchObject({
    status: 'SUCCEEDED',
  })
  await isGone('told-and-not-held')
})

test('registered rows that another program changed are found, and registered again from the staged source', async () => {
  const slice = await settled()
  await on().outside.query(
    `delete s from share_ratio s join distributor d on d.id = s.distributor_id where d.code = ? and s.isrc like '%1'`,
    [slice.distributor],
  )
  const { what, remedy } = await only('rows-differ')
  expect(what).toMatch(
    /holds \d+ rows summing to [\d.]+, the file has 400 rows summing to .+: readers see job \d+, and another program wrote/,
  )
  expect(await type(remedy, '--confirm', `${slice.distributor} 2026-10`)).toMatchObject({
    code: 0,
    end: { status: 'SUCCEEDED' },
  })
  await isGone('rows-differ')
})

test('unpublished events are found once they are old', async () => {
  const slice = await settled()
  const [job] = await jobsOf(on(), slice)
  await on().outside.query('update outbox set published_at = null where job_id = ?', [job?.id ?? 0])
  await isGone('unpublished-events')
  await on().outside.query('update outbox set created_at = created_at - interval 20 minute where job_id = ?', [
    job?.id ?? 0,
  ])
  expect((await only('unpublished-events')).what).toMatch(
    /^(1 event waits|\d events wait) to be published, the oldest for 20 min/,
  )
  await on().outside.query('update outbox set published_at = created_at where job_id = ?', [job?.id ?? 0])
  await isGone('unpublished-events')
})

test('an event that the topic refuses is found with its job, its error and its next try', async () => {
  const slice = await settled()
  const [job] = await jobsOf(on(), slice)
  const id = job?.id ?? 0
  await on().outside.query(`insert into outbox (event_id, job_id, type, payload) values (uuid(), ?, 'JobHalted', ?)`, [
    id,
    JSON.stringify({ cause: 'c'.repeat(EVENT_BYTES_MAX) }),
  ])
  // The same set again publishes what its job has in the outbox, and is not held up by it.
  expect(await on().run({ ...slice, source: { staged: job?.source_digest ?? '' } })).toMatchObject({
    status: 'SUCCEEDED',
  })
  expect(await only('refused-event')).toMatchObject({
    severity: 'error',
    what: expect.stringMatching(new RegExp(`JobHalted of job ${id}, ${slice.distributor} .*, once so far: .*too long`)),
    remedy: expect.stringContaining('outbox-refused'),
    slice,
  })
  await on().outside.query('update outbox set published_at = created_at where job_id = ?', [id])
  await isGone('refused-event')
})

test('a half-staged source is found, and so is a registered one that was lost', async () => {
  const slice = await settled(shareFile(400, 64))
  const half = '5e'.repeat(32)
  await on().put(`staged/${half}/000000.tsv`, 'KRA012600001\tPERFORMANCE\tP1\t25.000000\n')
  expect(await only('half-staged-source')).toMatchObject({
    remedy: expect.stringContaining(`aws s3 rm --recursive s3://${on().stack.aws.bucket}/staged/${half}/`),
  })
  const remove = (Key: string) => on().s3.send(new DeleteObjectCommand({ Bucket: on().stack.aws.bucket, Key }))
  await remove(`staged/${half}/000000.tsv`)
  await isGone('half-staged-source')

  const [job] = await jobsOf(on(), slice)
  const manifest = `staged/${job?.source_digest}/manifest.json`
  const kept = await on().get(manifest)
  await remove(manifest)
  expect((await only('staged-source-damaged')).remedy).toBe(`sharelock start ${named(slice).join(' ')} --file FILE`)
  // Another file can be registered all the same; what it changes nobody knows, so it has to be confirmed.
  const other = await operator.file('other.csv', shareFile(400, 63))
  const plan = {
    difference: { problem: expect.stringContaining('is missing') },
    confirmation: `${slice.distributor} 2026-10`,
  }
  expect(await operator.json('start', ...named(slice), '--file', other, '--confirm', 'no')).toMatchObject({ code: 6 })
  const started = await operator.json(
    'start',
    ...named(slice),
    '--file',
    other,
    '--confirm',
    `${slice.distributor} 2026-10`,
  )
  expect(started).toMatchObject({ code: 0, plan, end: { status: 'SUCCEEDED' } })
  await on().put(manifest, kept)
  await isGone('staged-source-damaged')
})

test("a stranger's change that keeps count and sum is found too, with the tracks where it is", async () => {
  const slice = await settled()
  await on().outside.query(
    `update share_ratio s join distributor d on d.id = s.distributor_id set s.party_id = 'STRANGER'
     where d.code = ? and s.party_id = (select * from (
       select min(party_id) from share_ratio t join distributor e on e.id = t.distributor_id
       where e.code = ? and t.isrc > '' and t.isrc < '[') as one)`,
    [slice.distributor, slice.distributor],
  )
  const { what, remedy } = await only('rows-differ')
  expect(what).toMatch(/as many rows with the same sum as the file, and other ones: .+ between the tracks \w+ and \w+/)
  expect(await type(remedy, '--confirm', `${slice.distributor} 2026-10`)).toMatchObject({ code: 0 })
  await isGone('rows-differ')
})
