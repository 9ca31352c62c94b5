import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions'
import { TASK_NAMES, type TaskName } from '../../../functions/contract/tasks.ts'
import type { Definition } from '../synth.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Stub = (input: Json) => Json
export type Stubs = Partial<Record<TaskName, Stub>>

export const EXECUTION = 'arn:aws:states:ap-northeast-2:123456789012:execution:sharelock:ARIA-2026-10-1'
const SLICE = { distributorId: 7, distributor: 'ARIA', month: '2026-10' }
export const REQUEST = {
  distributor: 'ARIA',
  month: '2026-10',
  source: { key: 'incoming/ARIA/2026-10.csv' },
  onHeld: 'fail',
  onOutage: 'halt',
  supersede: false,
  force: false,
  requestedBy: 'a test',
}
const STAGED = { digest: 'a'.repeat(64), rows: 90_000_000, shareSum: '8000000000.000000', chunks: 6_000 }
export const job = (state: string, fence = 5) => ({ id: 42, fence, state, outcome: 'opened', reusesSet: false })

/** Answers of an undisturbed run, in the shapes of contract/messages.ts. */
const ANSWERS: Record<TaskName, Stub> = {
  StageSource: (input) => {
    const { request, execution } = input as { request: Json; execution: Json }
    return { request, execution, slice: SLICE, staged: STAGED, job: null, reacquire: { count: 0 } }
  },
  AcquireLock: () => ({ head: { job: 41, fence: 4 } }),
  ReadHead: () => ({ head: null }),
  OpenJob: () => job('DELETING'),
  ReuseSet: () => job('REGISTERED'),
  PlanDelete: () => ({
    chunks: 8,
    items: [
      { from: 0, to: 3 },
      { from: 4, to: 7 },
    ],
  }),
  DeleteChunk: () => ({ done: 4 }),
  MarkDeleted: () => job('DELETED'),
  BeginRegistering: () => ({ chunks: 4, items: [{ from: 0, to: 3 }] }),
  RegisterChunk: () => ({ done: 4 }),
  MarkRegistered: () => job('REGISTERED'),
  ReleaseLock: () => ({ released: true }),
  PublishEvents: () => ({ published: 1, pending: 0 }),
  HaltJob: () => ({ halted: true, job: 42, released: true }),
}

export type Run = {
  /** States entered, those inside Maps left out. */
  readonly path: string[]
  readonly calls: readonly { readonly task: TaskName; readonly input: Json }[]
  /** The state of the execution whenever a state was entered. */
  readonly inputs: readonly { readonly state: string; readonly type: string; readonly input: Json }[]
  readonly output?: Json
  readonly failure?: { readonly error: string; readonly cause: string }
}

/** Throws as a Lambda does whose handler threw: the error's name is what Retry and Catch see. */
export const fail = (name: string): never => {
  throw Object.assign(new Error(`${name} happened`), { name })
}

/** The failures in turn, then the ordinary answer. */
export const failing = (task: TaskName, ...names: string[]): Stubs => {
  const left = [...names]
  return {
    [task]: (input: Json) => {
      const name = left.shift()
      return name === undefined ? ANSWERS[task](input) : fail(name)
    },
  }
}

/** Runs the definition in the local engine against stubs; delays before retries are skipped. */
export const execute = async (definition: Definition, stubs: Stubs = {}, input: Json = REQUEST): Promise<Run> => {
  const calls: { task: TaskName; input: Json }[] = []
  const handlers = Object.fromEntries(
    TASK_NAMES.map((task) => [
      task,
      async (received: Json) => {
        calls.push({ task, input: received })
        return (stubs[task] ?? ANSWERS[task])(received)
      },
    ]),
  )
  const machine = new StateMachine(structuredClone(definition) as unknown as StateMachineDefinition)
  const run = machine.run(input, {
    context: { Execution: { Id: EXECUTION, Name: 'ARIA-2026-10-1', RedriveCount: 0 } } as never,
    overrides: {
      taskResourceLocalHandlers: handlers,
      retryIntervalOverrides: Object.fromEntries(TASK_NAMES.map((task) => [task, 0])),
    },
  })
  const result = run.result.then(
    (output) => ({ output: output as Json }),
    (error: Error) => ({ failure: { error: (error.cause as Error).name, cause: (error.cause as Error).message } }),
  )
  const inputs: { state: string; type: string; input: Json }[] = []
  for await (const event of run.eventLogs)
    if (event.type === 'StateEntered' && event.index === undefined)
      inputs.push({ state: event.state.name, type: event.state.type, input: event.state.input as Json })
  return { path: inputs.map(({ state }) => state), calls, inputs, ...(await result) }
}

/** The states in the order of an undisturbed run, and those that halt. */
export const OPENING = ['TakeRequest', 'StageSource', 'MintToken', 'AcquireLock', 'OpenJob', 'RouteByState']
export const DELETING = ['PlanDelete', 'DeleteChunks', 'MarkDeleted']
export const REGISTERING = ['BeginRegistering', 'RegisterChunks', 'MarkRegistered']
export const CLOSING = ['ReleaseLock', 'PublishEvents', 'Registered']
export const HALTING = ['HaltJob', 'RouteFailure']

/** The inputs a task was called with, in order. */
export const inputsOf = (run: Run, task: TaskName) =>
  run.calls.filter((call) => call.task === task).map(({ input }) => input)
