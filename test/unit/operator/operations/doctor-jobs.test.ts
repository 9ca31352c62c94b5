import { expect, test } from 'vitest'
import type { Checks } from '../../../../functions/contract/checks.ts'
import type { Clients } from '../../../../operator/operations/clients.ts'
import { jobFindings } from '../../../../operator/operations/doctor/jobs.ts'

const EXECUTION = 'arn:aws:states:r:1:execution:M:ARIA-1'
/** Step Functions, which has forgotten every execution. */
const sfn = { send: () => Promise.reject(Object.assign(new Error('gone'), { name: 'ExecutionDoesNotExist' })) }

const findingOf = async (haltError: string) => {
  const job = { distributor: 'ARIA', month: '2026-10', job: 7, state: 'REGISTERING', execution: EXECUTION }
  const openJobs = [{ ...job, haltedAt: '2026-11-05T00:00:00.000Z', haltError }]
  const [finding] = await jobFindings({ sfn } as unknown as Clients, { openJobs } as unknown as Checks, [])
  return finding
}

test.each([
  ['SliceMismatch', 'start', ' --file FILE --supersede --force'],
  ['ChunkMismatch', 'start', ' --file FILE --supersede --force'],
  ['StagedSourceDamaged', 'start', ' --file FILE'],
  ['DatabaseUnreachable', 'resume', ''],
  ['ExecutionFAILED', 'resume', ''],
  ['Lambda.Unknown', 'resume', ''],
])('a job that halted by %s gets the command of its own failure', async (haltError, verb, options) => {
  expect(await findingOf(haltError)).toMatchObject({
    check: 'halted-job',
    remedy: `sharelock ${verb} --distributor ARIA --month 2026-10${options}`,
  })
})

test("a job that halted by a stranger's rows says to stop the stranger first", async () => {
  expect((await findingOf('SliceMismatch'))?.what).toMatch(
    /Another program wrote to the slice; stop it, then start over\.$/,
  )
})
