import { expect, test } from 'vitest'
import { holdTask } from '../../../support/faults.ts'
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

test('a lock without a job is found, and unlocked by its token', async () => {
  const slice = await settled()
  await on().valkey.set(on().lockKey(slice), 'vanished/3c9e', 'PX', 250_000)
  const { what, remedy } = await only('lock-without-job')
  expect(what).toContain(`The lock of ${slice.distributor} 2026-10 is held by vanished`)
  expect(remedy).toMatch(new RegExp(`^sharelock unlock ${named(slice).join(' ')} --token [0-9a-f]{12}$`))
  const shown = await operator.call('show', ...named(slice))
  expect(shown.stdout).toContain(`Its holder does not exist, so nobody extends the lock. If you can't wait: ${remedy}`)
  expect(await type(remedy)).toMatchObject({ code: 0, released: true })
  await isGone('lock-without-job')
})

test('an open job whose execution is gone is found, with and without its lock, and resumed', async () => {
  const slice = await settled()
  const [job] = await jobsOf(on(), slice)
  // As an execution leaves it that vanished, and whose status event was lost.
  await on().outside.query(
    `insert into job (distributor_id, settlement_month, state, fence, lock_token, execution, requested_by, source_digest,
                      source_rows, source_share_sum)
     select distributor_id, settlement_month, 'DELETING', fence + 1, 'gone/3c9e', concat(execution, '-gone'), 'kim',
            source_digest, source_rows, source_share_sum from job where id = ?`,
    [job?.id ?? 0],
  )
  await on().valkey.set(on().lockKey(slice), 'gone/3c9e', 'PX', 250_000)
  const locked = await only('open-job-without-run')
  expect(locked.what).toContain('-gone does not exist; its lock is held by gone')
  expect(await type(locked.remedy)).toMatchObject({ code: 0, released: true })
  const halted = await only('halted-job')
  expect(halted.what).toMatch(/^Job \d+ of .+ halted in DELETING \(Unlocked\)/)
  expect(await type(halted.remedy)).toMatchObject({ code: 0, end: { status: 'SUCCEEDED' } })
  await isGone('halted-job')

  await on().outside.query('update active_set set slot = null, job_id = null where job_id > ?', [job?.id ?? 0])
  await on().outside.query(
    `update job set state = 'REGISTERING', lock_token = null where id > ? and distributor_id = ?`,
    [
      job?.id ?? 0,
      (await on().rows<{ id: number }>('select id from distributor where code = ?', [slice.distributor]))[0]?.id ?? 0,
    ],
  )
  const unlocked = await only('open-job-without-run')
  expect(unlocked.what).toMatch(/ended as SUCCEEDED; it has no lock and it was last seen at work/)
  expect(unlocked.remedy).toBe(`sharelock resume ${named(slice).join(' ')}`)
  expect(await type(unlocked.remedy)).toMatchObject({ code: 0, end: { status: 'SUCCEEDED' } })
  await isGone('open-job-without-run')
})

test('an open job that runs without a lock and without progress is found and stopped', async () => {
  const slice = await settled()
  const atChunk = holdTask(on(), 'PlanDelete', slice)
  const arn = await on().start({ ...slice, source: await on().upload(shareFile(300, 62)) })
  await atChunk.reached
  await on().valkey.del(on().lockKey(slice))
  await on().outside.query('update job set opened_at = opened_at - interval 1 hour where execution = ?', [arn])
  const { what, remedy } = await only('open-job-without-progress')
  expect(what).toMatch(/its execution runs, but it has no lock and was last seen at work 60 min ago/)
  expect(await type(remedy)).toMatchObject({ code: 0, halted: true })
  atChunk.release()
  await on().ended(arn)
  await isGone('open-job-without-progress')
  expect(await operator.json('resume', ...named(slice))).toMatchObject({ code: 0 })
})

test('a run with an old fence is found and ended alone', async () => {
  const slice = await on().newSlice()
  const atPlan = holdTask(on(), 'PlanDelete', slice)
  const old = await on().start({ ...slice, source: await on().upload(FILE) })
  await atPlan.reached
  await on().valkey.del(on().lockKey(slice))
  expect(await on().run({ ...slice, source: await on().upload(FILE) })).toMatchObject({ status: 'SUCCEEDED' })
  const { what, remedy } = await only('old-fence')
  expect(what).toMatch(
    new RegExp(`The execution ${old.split(':').at(-1)} runs with fence 1 of job \\d+, but .+ is at fence 2`),
  )
  expect(await type(remedy)).toMatchObject({ code: 0, ended: old.split(':').at(-1) })
  expect(await on().ended(old)).toMatchObject({ status: 'ABORTED', error: 'Stopped' })
  atPlan.release()
  await isGone('old-fence')
  expect(await jobsOf(on(), slice)).toMatchObject([{ state: 'REGISTERED', fence: 2, halted_at: null }])
})
