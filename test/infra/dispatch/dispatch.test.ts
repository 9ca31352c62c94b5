import { createRequire } from 'node:module'
import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions'
import { beforeAll, describe, expect, test } from 'vitest'
import { EXECUTION_TIMEOUT_S, TASK_MARGIN_S } from '../../../functions/contract/limits.ts'
import { ExecutionInput } from '../../../functions/contract/messages.ts'
import { PlanMonthInput, type PlanMonthOutput } from '../../../functions/contract/month-messages.ts'
import { SUPPORT } from '../../../functions/contract/tasks.ts'
import { dispatchLanes } from '../../../infra/config/connections.ts'
import { fail } from '../machine/engine.ts'
import { allStates, type Definition, definitionOf, jobTemplate } from '../synth.ts'

const validate = createRequire(import.meta.url)('asl-validator') as (definition: object) => {
  isValid: boolean
  errorsText: (separator?: string) => string
}

let definition: Definition

beforeAll(() => {
  definition = definitionOf(jobTemplate(), 'Dispatch')
}, 60_000)

const PLAN: PlanMonthOutput = {
  month: '2026-10',
  starts: ['ARIA', 'BALLAD', 'CANTATA'].map((distributor) => ({
    distributor,
    ending: 'csv' as const,
    run: 'scheduled-0123456789ab',
    head: null,
  })),
  already: [],
  left: [],
  leftCount: 0,
  warned: [],
  warnedCount: 0,
  missing: [],
  missingCount: 0,
}

const SCHEDULED = { scheduledAt: '2026-11-09T17:00:00Z' }
type Call = { readonly task: string; readonly input: unknown }

/** Runs the dispatch against an account that remembers the names of its executions. */
const dispatch = async (plan: PlanMonthOutput, used: Set<string>, change: Record<string, () => never> = {}) => {
  const calls: Call[] = []
  const record = (task: string, answer: (input: never) => unknown) => async (input: unknown) => {
    calls.push({ task, input })
    change[task]?.()
    return answer(input as never) as never
  }
  const machine = new StateMachine(structuredClone(definition) as unknown as StateMachineDefinition)
  const run = machine.run(SCHEDULED, {
    context: { Execution: { Id: 'arn:dispatch', Name: 'dispatch' } } as never,
    overrides: {
      taskResourceLocalHandlers: {
        PlanMonth: record('PlanMonth', () => plan),
        StartJob: record('StartJob', ({ Name }: { Name: string }) => {
          if (used.has(Name)) fail('StepFunctions.ExecutionAlreadyExistsException')
          used.add(Name)
          return { ExecutionArn: `arn:${Name}` }
        }),
        ReportMissing: record('ReportMissing', () => ({ MessageId: '1' })),
      },
      retryIntervalOverrides: { PlanMonth: 0, StartJob: 0 },
    },
  })
  const result: { output?: unknown; failure?: string } = await run.result.then(
    (output) => ({ output }),
    (error: Error) => ({ failure: (error.cause as Error).name }),
  )
  return {
    ...result,
    calls,
    inputsOf: (task: string) => calls.filter((call) => call.task === task).map(({ input }) => input),
  }
}

describe('the dispatch', () => {
  test('is valid Amazon States Language, plain enough for the local engine', () => {
    const { isValid, errorsText } = validate(structuredClone(definition))
    expect(isValid, errorsText('\n')).toBe(true)
    expect(JSON.stringify(definition)).not.toMatch(/QueryLanguage|DISTRIBUTED|AWS_STEP_FUNCTIONS_STARTED_BY/)
  })

  test('gives every task a clock: PlanMonth a longer one than its Lambda', () => {
    const states = allStates(definition)
    expect(states.get('PlanMonth')?.TimeoutSeconds).toBe(SUPPORT.PlanMonth.lambdaTimeoutS + TASK_MARGIN_S)
    for (const state of states.values()) if (state.Type === 'Task') expect(state.TimeoutSeconds).toBeGreaterThan(0)
  })

  test('starts one execution per distributor, under its agreed name, with an input that the job accepts', async () => {
    const { output, inputsOf } = await dispatch(PLAN, new Set())
    expect(output).toMatchObject({ outcomes: ['registered', 'registered', 'registered'] })
    const starts = inputsOf('StartJob') as { Name: string; Input: unknown }[]
    expect(starts.map(({ Name }) => Name)).toEqual(
      ['ARIA', 'BALLAD', 'CANTATA'].map((code) => `${code}-2026-10-scheduled-0123456789ab`),
    )
    for (const { Input } of starts)
      expect(ExecutionInput.parse(Input)).toMatchObject({
        month: '2026-10',
        onHeld: 'wait',
        requestedBy: 'schedule',
        expect: { head: null },
      })
    for (const input of inputsOf('PlanMonth'))
      expect(PlanMonthInput.parse(input)).toEqual({ request: SCHEDULED, monthsBack: 1 })
  })

  test('starts nothing twice when the schedule delivers twice', async () => {
    const used = new Set<string>()
    await dispatch(PLAN, used)
    const { output } = await dispatch(PLAN, used)
    expect(output).toMatchObject({ outcomes: Array(3).fill('already started') })
    expect(used.size).toBe(3)
  })

  test('starts the others where one was started before', async () => {
    const { output } = await dispatch(PLAN, new Set(['BALLAD-2026-10-scheduled-0123456789ab']))
    expect(output).toMatchObject({ outcomes: ['registered', 'already started', 'registered'] })
  })

  test('is red where an execution could not be started, after the others were', async () => {
    let calls = 0
    const { failure, inputsOf } = await dispatch(PLAN, new Set(), {
      StartJob: (() => (calls++ === 1 ? fail('StepFunctions.AccessDeniedException') : undefined)) as () => never,
    })
    expect(failure).toBe('NotAllStarted')
    expect(inputsOf('StartJob')).toHaveLength(3)
  })

  test('goes on where a job ended badly, whose own alarms tell, and is green', async () => {
    let calls = 0
    const { output } = await dispatch(PLAN, new Set(), {
      StartJob: (() => (calls++ === 1 ? fail('States.TaskFailed') : undefined)) as () => never,
    })
    expect(output).toMatchObject({ outcomes: ['registered', 'ended without success', 'registered'] })
    expect(calls).toBe(3)
  })

  test('awaits its jobs, fewer at once than the stage is sized for, each as long as a job may take', () => {
    const states = allStates(definition)
    const start = states.get('StartJob')
    expect(start?.Resource).toMatch(/states:startExecution\.sync:2$/)
    expect(start?.TimeoutSeconds).toBeGreaterThan(EXECUTION_TIMEOUT_S)
    for (const { ErrorEquals } of start?.Retry ?? [])
      for (const name of ErrorEquals) expect(name).toMatch(/^StepFunctions\./)
    expect([2, 3, 4, 8, 100].map((jobsMax) => dispatchLanes({ jobsMax }))).toEqual([1, 2, 3, 6, 75])
    expect(states.get('StartJobs')?.MaxConcurrency).toBe(3)
  })

  test('waits through throttling', async () => {
    let calls = 0
    const { output } = await dispatch(PLAN, new Set(), {
      StartJob: (() => (calls++ === 0 ? fail('StepFunctions.ThrottlingException') : undefined)) as () => never,
    })
    expect(output).toMatchObject({ outcomes: ['registered', 'registered', 'registered'] })
  })

  test('reports those without a file at the end, and names them', async () => {
    const missing = [{ distributor: 'DUET', reason: 'no file' }]
    const { output, calls, inputsOf } = await dispatch({ ...PLAN, missing, missingCount: 1 }, new Set())
    expect(calls.at(-1)?.task).toBe('ReportMissing')
    expect(inputsOf('ReportMissing')).toMatchObject([{ Message: { month: '2026-10', missing } }])
    expect(output).toMatchObject({ month: { missing } })
  })

  test('reports those that were left alone the same way, and is green: a correction is no failed month', async () => {
    const left = [{ distributor: 'DUET', reason: 'job 12, requested by kim, REGISTERED at 2026-11-10T02:00:00.000Z' }]
    const { output, inputsOf } = await dispatch({ ...PLAN, left, leftCount: 1 }, new Set())
    expect(inputsOf('ReportMissing')).toMatchObject([{ Message: { missing: [], left } }])
    expect(output).toMatchObject({ month: { left }, outcomes: ['registered', 'registered', 'registered'] })
  })

  test('gives each start the head that the plan saw, and a name of its own behind an earlier job', async () => {
    const head = { job: 7, fence: 2, state: 'DELETING' as const }
    const again = { distributor: 'ARIA', ending: 'csv.gz' as const, run: 'scheduled-0123456789ab-2', head }
    const { output, inputsOf } = await dispatch(
      { ...PLAN, starts: [again] },
      new Set(['ARIA-2026-10-scheduled-0123456789ab']),
    )
    expect(output).toMatchObject({ outcomes: ['registered'] })
    const [start] = inputsOf('StartJob') as { Name: string; Input: unknown }[]
    expect(start?.Name).toBe('ARIA-2026-10-scheduled-0123456789ab-2')
    expect(ExecutionInput.parse(start?.Input)).toMatchObject({
      source: { key: 'incoming/ARIA/2026-10.csv.gz' },
      expect: { head },
    })
  })

  test.each(['StorageUnreachable', 'DatabaseUnreachable', 'Lambda.Unknown'])(
    'plans again through %s, and fails red only once the retries are used up',
    async (name) => {
      let calls = 0
      const flaky = await dispatch(PLAN, new Set(), {
        PlanMonth: (() => (calls++ < 20 ? fail(name) : undefined)) as () => never,
      })
      expect(flaky.output).toMatchObject({ outcomes: ['registered', 'registered', 'registered'] })
      const gone = await dispatch(PLAN, new Set(), { PlanMonth: () => fail(name) })
      expect(gone.failure).toBe(name)
      expect(gone.inputsOf('StartJob')).toEqual([])
    },
  )

  test('has started all where even the report fails', async () => {
    const plan = { ...PLAN, missing: [{ distributor: 'DUET', reason: 'no file' }], missingCount: 1 }
    const { output } = await dispatch(plan, new Set(), { ReportMissing: () => fail('SNS.InternalErrorException') })
    expect(output).toMatchObject({ report: { Error: 'SNS.InternalErrorException' } })
  })

  test('of no distributor at all starts nothing and is green', async () => {
    const { output } = await dispatch({ ...PLAN, starts: [] }, new Set())
    expect(output).toMatchObject({ outcomes: [] })
  })

  test('is red where the month can not be planned', async () => {
    const { failure } = await dispatch(PLAN, new Set(), { PlanMonth: () => fail('InvalidInput') })
    expect(failure).toBe('InvalidInput')
  })
})
