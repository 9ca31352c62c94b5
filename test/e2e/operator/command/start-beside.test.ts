import { describe, expect, test } from 'vitest'
import { holdTask } from '../../../support/faults.ts'
import { expectHalted, expectSettled, jobsOf } from '../../../support/invariants.ts'
import { named, useOperator } from '../../../support/operator.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

/* `sharelock start` and what it refuses, each call in a process of its own, on the local stack. */
const on = useStack()
const operator = useOperator(on)

/** Ten processes of Node beside the stack, on however few cores. */
const MANY_PROCESSES_MS = 360_000
const FILE = shareFile(400, 41)
const OTHER = shareFile(300, 42)

type Started = {
  readonly plan: {
    readonly difference: { readonly added: number; readonly removed: number; readonly changed: number }
    readonly rowsToDelete: number
    readonly rowsToRegister: number
  }
  readonly started: { readonly execution: string; readonly executionArn: string; readonly joined: boolean } | null
  readonly end: { readonly status: string; readonly result: string | null } | null
  readonly error?: string
  readonly message?: string
}

const start = (slice: TestSlice, path: string, ...more: string[]) =>
  operator.json<Started>('start', ...named(slice), '--yes', '--file', path, ...more)

const confirmed = ({ distributor, month }: TestSlice): string[] => ['--confirm', `${distributor} ${month}`]

/** A slice that holds FILE. */
const settledSlice = async (): Promise<TestSlice> => {
  const slice = await on().newSlice()
  expect(await on().run({ ...slice, source: await on().upload(FILE) })).toMatchObject({ status: 'SUCCEEDED' })
  return slice
}

describe('while another run works on the slice', () => {
  test('a start of the same file joins it, and of another file is refused naming it', async () => {
    const slice = await on().newSlice()
    const path = await operator.file('running.csv', FILE)
    const atPlan = holdTask(on(), 'PlanDelete', slice)
    const first = operator.calling('start', ...named(slice), '--yes', '--file', path, '--json')
    await atPlan.reached
    const joining = await start(slice, path, '--detach')
    expect(joining).toMatchObject({ code: 0, started: { joined: true } })
    const refused = await start(slice, await operator.file('other.csv', OTHER))
    expect(refused).toMatchObject({ code: 4, error: 'Busy' })
    expect(refused.message).toContain(`is being worked on by ${joining.started?.execution}`)
    atPlan.release()
    const { code, stdout } = await first.ended
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ started: { ...joining.started, joined: false } })
    await expectSettled(on(), slice, FILE)
  })

  test('a run of the schedule with the same rows is joined, whatever its name and its file are', async () => {
    const slice = await on().newSlice()
    const atPlan = holdTask(on(), 'PlanDelete', slice)
    const scheduled = `${slice.distributor}-${slice.month}-scheduled`
    const arn = await on().start({ ...slice, source: await on().upload(FILE), onHeld: 'wait' }, scheduled)
    await atPlan.reached
    const path = await operator.file('same-rows.csv', FILE)
    expect(await start(slice, path, '--detach')).toMatchObject({ started: { execution: scheduled, joined: true } })
    atPlan.release()
    expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
    expect(await jobsOf(on(), slice)).toHaveLength(1)
  })

  test('with --wait a start of another file waits for its turn', async () => {
    const slice = await on().newSlice()
    const atPlan = holdTask(on(), 'PlanDelete', slice)
    const first = await on().start({ ...slice, source: await on().upload(FILE) })
    await atPlan.reached
    const waiting = operator.calling(
      'start',
      ...named(slice),
      '--file',
      await operator.file('next.csv', OTHER),
      '--wait',
      ...confirmed(slice),
    )
    await waiting.said(/AcquireLock/)
    atPlan.release()
    expect(await on().ended(first)).toMatchObject({ status: 'SUCCEEDED' })
    expect(await waiting.ended).toMatchObject({ code: 0 })
    await expectSettled(on(), slice, OTHER)
  })

  test(
    'of ten starts at once one starts and nine join it: one execution, one job',
    async () => {
      const slice = await on().newSlice()
      const path = await operator.file('ten.csv', FILE)
      const atRegister = holdTask(on(), 'RegisterChunk', slice)
      const calls = Array.from({ length: 10 }, () =>
        operator.calling('start', ...named(slice), '--yes', '--file', path, '--json'),
      )
      // The run stays where it is until all ten have made up their minds.
      await Promise.all(calls.map(({ said }) => said(/^(Started|Joined) /m)))
      await atRegister.reached
      atRegister.release()
      const ended = await Promise.all(calls.map((one) => one.ended))
      expect(ended.map(({ code }) => code)).toEqual(ended.map(() => 0))
      const all = ended.map(({ stdout }) => JSON.parse(stdout) as Started)
      expect(all.filter(({ started }) => started?.joined === false)).toHaveLength(1)
      expect(new Set(all.map(({ started }) => started?.execution)).size).toBe(1)
      const runs = on()
        .stack.engine.executions()
        .filter(({ name }) => name.startsWith(slice.distributor))
      expect(runs).toHaveLength(1)
      expect(await jobsOf(on(), slice)).toHaveLength(1)
      await expectSettled(on(), slice, FILE)
    },
    MANY_PROCESSES_MS,
  )
})

describe('over the open job of another file', () => {
  /** Its newest job halted half way through OTHER. */
  const haltedSlice = async (): Promise<TestSlice> => {
    const slice = await settledSlice()
    const atRegister = holdTask(on(), 'RegisterChunk', slice)
    const arn = await on().start({ ...slice, source: await on().upload(OTHER) })
    await atRegister.reached
    await on().stop(arn)
    await on().ended(arn)
    atRegister.release()
    await expectHalted(on(), slice, 'REGISTERING')
    return slice
  }

  test('a start is refused with what to do instead, and --supersede closes that job', async () => {
    const slice = await haltedSlice()
    const third = shareFile(410, 43)
    const path = await operator.file('third.csv', third)
    const refused = await start(slice, path)
    expect(refused).toMatchObject({ code: 4, error: 'Busy' })
    expect(refused.message).toMatch(
      /has an open job of another file, job \d+\. Resume the open job as it is, .+: sharelock start .+ --file FILE --supersede/,
    )
    const superseding = await start(slice, path, '--supersede', ...confirmed(slice))
    expect(superseding).toMatchObject({ code: 0, end: { status: 'SUCCEEDED' } })
    await expectSettled(on(), slice, third)
  })

  test('resuming with another file is refused with what to do instead; with its own it goes on', async () => {
    const slice = await haltedSlice()
    const wrong = await operator.json<Started>(
      'resume',
      ...named(slice),
      '--file',
      await operator.file('wrong.csv', FILE),
    )
    expect(wrong).toMatchObject({ code: 4, error: 'Busy' })
    expect(wrong.message).toMatch(/This is not the file of .* open job \d+.*sharelock start .* --supersede/)
    const own = await operator.file('own.csv', OTHER)
    expect(await operator.json('resume', ...named(slice), '--file', own)).toMatchObject({
      code: 0,
      end: { status: 'SUCCEEDED' },
    })
    await expectSettled(on(), slice, OTHER)
  })

  test('starting the same file goes on with that job', async () => {
    const slice = await haltedSlice()
    const path = await operator.file('same.csv', OTHER)
    const started = await start(slice, path, ...confirmed(slice))
    expect(started).toMatchObject({
      code: 0,
      plan: { continues: { state: 'REGISTERING' } },
      end: { status: 'SUCCEEDED' },
    })
    expect(await jobsOf(on(), slice)).toHaveLength(2)
    await expectSettled(on(), slice, OTHER)
  })
})
