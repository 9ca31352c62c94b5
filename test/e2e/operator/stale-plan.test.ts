import { appendFile, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { createOperations } from '../../../operator/create-operations.ts'
import type { Operations } from '../../../operator/operations/operations.ts'
import { holdTask } from '../../support/faults.ts'
import { expectHalted, expectSettled, jobsOf } from '../../support/invariants.ts'
import { named, useOperator } from '../../support/operator.ts'
import { type ShareFile, shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'
import type { TestSlice } from '../../support/test-stack.ts'

/* What was shown and confirmed, or nothing: a plan that moved on is refused by name, wherever it comes from. */
const on = useStack()
const operator = useOperator(on)
let operations: Operations
beforeAll(() => {
  Object.assign(process.env, on().stack.environment)
  operations = createOperations(process.env)
})

const FILE = shareFile(400, 71)
const OTHERS = shareFile(3_600, 72)
const MOVED = { name: 'PlanMoved' }

/** The same file with one row less. */
const CORRECTED: Pick<ShareFile, 'csv'> = { csv: `${FILE.csv.trimEnd().split('\n').slice(0, -1).join('\n')}\n` }

const register = async (slice: TestSlice, file: ShareFile) =>
  expect(await on().run({ ...slice, source: await on().upload(file) })).toMatchObject({ status: 'SUCCEEDED' })

const settled = async (): Promise<TestSlice> => {
  const slice = await on().newSlice()
  await register(slice, FILE)
  return slice
}

/** Its newest job halted half way through OTHERS. */
const halted = async (): Promise<TestSlice> => {
  const slice = await settled()
  const atRegister = holdTask(on(), 'RegisterChunk', slice)
  const arn = await on().start({ ...slice, source: await on().upload(OTHERS) })
  await atRegister.reached
  await on().stop(arn)
  await on().ended(arn)
  atRegister.release()
  await expectHalted(on(), slice, 'REGISTERING')
  return slice
}

const confirmationOf = ({ distributor, month }: TestSlice) => `${distributor} ${month}`
const runsOf = ({ distributor }: TestSlice) =>
  on()
    .stack.engine.executions()
    .filter(({ name }) => name.startsWith(distributor))
const planFile = async (slice: TestSlice, name: string, file: Pick<ShareFile, 'csv'>) => {
  const path = await operator.file(name, file)
  return { path, plan: await operations.planStart(slice, { path }) }
}

describe('a plan that another registration has overtaken', () => {
  test('is refused before anything is uploaded or started, and says by which job', async () => {
    const slice = await settled()
    const { plan } = await planFile(slice, 'one-row.csv', CORRECTED)
    await register(slice, OTHERS)
    const [newest] = await jobsOf(on(), slice)
    const stale = operations.start(plan, { confirmation: confirmationOf(slice) })
    await expect(stale).rejects.toMatchObject(MOVED)
    await expect(stale).rejects.toThrow(new RegExp(`job ${newest?.id} .*came since.*start again`))
    expect(runsOf(slice)).toEqual([])
    await expect(on().get(plan.uploadKey ?? '')).rejects.toMatchObject({ name: 'NoSuchKey' })
    await expectSettled(on(), slice, OTHERS)
  })

  test('is refused by OpenJob where the other came after the start, and the command ends with 10', async () => {
    const slice = await settled()
    const path = await operator.file('late.csv', CORRECTED)
    const held = holdTask(on(), 'AcquireLock', slice)
    const stale = operator.calling('start', ...named(slice), '--file', path, '--yes', '--json')
    await held.reached
    await register(slice, OTHERS)
    held.release()
    const { code, stdout } = await stale.ended
    expect(code).toBe(10)
    expect(JSON.parse(stdout)).toMatchObject({
      plan: { difference: { removed: 1 } },
      end: { status: 'FAILED', failure: { error: 'PlanMoved', cause: expect.stringMatching(/came since/) } },
    })
    await expectSettled(on(), slice, OTHERS)
  })

  test('is refused where the run that was seen has REGISTERED meanwhile, whose fence is the same', async () => {
    const slice = await settled()
    const atPlan = holdTask(on(), 'PlanDelete', slice)
    const other = await on().start({ ...slice, source: await on().upload(OTHERS) })
    await atPlan.reached
    const { plan } = await planFile(slice, 'while-running.csv', CORRECTED)
    expect(plan).toMatchObject({ busyWith: other, behind: [other] })
    atPlan.release()
    await on().ended(other)
    const stale = operations.start(plan, { supersede: true, confirmation: confirmationOf(slice) })
    await expect(stale).rejects.toMatchObject(MOVED)
    await expectSettled(on(), slice, OTHERS)
    // Who said to wait for that run has agreed to come after it.
    const started = await operations.start(plan, { wait: true, confirmation: confirmationOf(slice) })
    expect(await on().ended(started.executionArn)).toMatchObject({ status: 'SUCCEEDED' })
  })

  test('is refused as an undo too', async () => {
    const slice = await settled()
    await register(slice, OTHERS)
    const plan = await operations.planUndo(slice)
    await register(slice, shareFile(500, 73))
    const stale = operations.undo(plan, { confirmation: confirmationOf(slice) })
    await expect(stale).rejects.toMatchObject(MOVED)
    expect(await jobsOf(on(), slice)).toHaveLength(3)
  })

  test('is refused as a resume: only the job that was named, as it was seen', async () => {
    const slice = await halted()
    const [open, before] = await jobsOf(on(), slice)
    const wrong = await operator.json('resume', String(before?.id))
    expect(wrong).toMatchObject({ code: 10, error: 'PlanMoved' })
    const seen = { job: open?.id ?? 0, fence: (open?.fence ?? 0) - 1 }
    await expect(operations.resume(slice, { seen })).rejects.toMatchObject(MOVED)
    const { executionArn } = await operations.resume(slice, { seen: { ...seen, fence: open?.fence ?? 0 } })
    expect(await on().ended(executionArn)).toMatchObject({ status: 'SUCCEEDED' })
    await expectSettled(on(), slice, OTHERS)
  })
})

describe('an execution started by hand with an expectation', () => {
  test('is Refused where the head moved, and starts where it did not', async () => {
    const slice = await settled()
    const [job] = await jobsOf(on(), slice)
    const head = { job: job?.id ?? 0, fence: 1, state: 'REGISTERED' as const }
    const source = await on().upload(OTHERS)
    const stale = await on().run({ ...slice, source, expect: { head: null } })
    expect(stale).toMatchObject({ status: 'FAILED', error: 'PlanMoved' })
    await expectSettled(on(), slice, FILE)
    expect(await on().run({ ...slice, source, expect: { head } })).toMatchObject({ status: 'SUCCEEDED' })
    await expectSettled(on(), slice, OTHERS)
  })

  test('is Rejected where the file makes another staged source, before it is locked', async () => {
    const slice = await settled()
    const source = await on().upload(OTHERS)
    const end = await on().run({ ...slice, source, expect: { digest: 'ab'.repeat(32) } })
    expect(end).toMatchObject({ status: 'FAILED', error: 'PlanMoved' })
    expect(end.cause).toMatch(/the file is not the one.*Nothing was touched/)
    expect(await jobsOf(on(), slice)).toHaveLength(1)
  })
})

describe('a file that changed after it was shown', () => {
  test('on this machine is neither uploaded nor started, whether it grew or one digit is another', async () => {
    const slice = await settled()
    for (const change of ['grown', 'edited']) {
      const { path, plan } = await planFile(slice, `${change}.csv`, CORRECTED)
      if (change === 'grown') await appendFile(path, 'ZZZ992699999,PERFORMANCE,NEW.1,100\n')
      else
        await writeFile(
          path,
          CORRECTED.csv.replace(/\d(?=\n$)/, (digit) => String((Number(digit) + 1) % 10)),
        )
      const stale = operations.start(plan, {})
      await expect(stale).rejects.toMatchObject(MOVED)
      await expect(stale).rejects.toThrow(`The file ${path} has changed since it was checked.`)
      await expect(on().get(plan.uploadKey ?? '')).rejects.toMatchObject({ name: 'NoSuchKey' })
    }
    expect(runsOf(slice)).toEqual([])
    await expectSettled(on(), slice, FILE)
  })

  test('in the bucket is not registered: the execution named after the first rows runs no others', async () => {
    const slice = await settled()
    const { key } = await on().upload(CORRECTED)
    const plan = await operations.planStart(slice, { key })
    await on().put(key, OTHERS.csv)
    const { execution, executionArn } = await operations.start(plan, {})
    expect(execution).toContain(plan.validation.summary?.digest.slice(0, 16))
    expect(await on().ended(executionArn)).toMatchObject({ status: 'FAILED', error: 'PlanMoved' })
    await expectSettled(on(), slice, FILE)
  })
})
