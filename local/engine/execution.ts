import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  ExecutionTimeoutError,
  type RunOptions,
  StateMachine,
  type StateMachineDefinition,
} from 'aws-local-stepfunctions'
import { HISTORY_EVENTS_MAX, PAYLOAD_BYTES_MAX } from '../../functions/contract/limits.ts'
import { type PlacedState, placedStates } from './definition.ts'
import { END_EVENTS, type End, type EndStatus, type ExecutionStatus, failureOf } from './end.ts'
import { Gate } from './gate.ts'
import { History, type RunnerEvent } from './history.ts'
import type { Machine } from './machine.ts'
import { CONTEXT_EXECUTION, prepareDefinition } from './prepare.ts'
import { TIMEOUT_SECONDS_MAX } from './refuse.ts'
import { TaskError } from './service-error.ts'
import { eventPrefix, type TaskServices, taskRunner } from './tasks.ts'

/** Fixed delays in place of the definition's, so that a test need not wait for a backoff. */
export type Pace = { readonly retryMs?: number; readonly waitMs?: number }

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

/** One execution of a machine. Its fields are what DescribeExecution tells. */
export class Execution {
  readonly arn: string
  readonly name: string
  readonly machine: Machine
  readonly input: string
  readonly startDate = Date.now()
  readonly history = new History()
  /** Resolves when the execution is over; never rejects. */
  readonly ended: Promise<void>
  status: ExecutionStatus = 'RUNNING'
  stopDate: number | undefined
  output: string | undefined
  error: string | undefined
  cause: string | undefined
  /** The largest input or output any state had. */
  maxPayloadBytes = 0
  readonly #services: TaskServices
  readonly #gate = new Gate()
  readonly #end = Promise.withResolvers<void>()
  #abort: () => void = () => undefined
  #isOver = false

  constructor(machine: Machine, name: string, input: string, services: TaskServices) {
    this.machine = machine
    this.name = name
    this.arn = `${machine.arn.replace(':stateMachine:', ':execution:')}:${name}`
    this.input = input
    this.#services = services
    this.ended = this.#end.promise
  }

  /** Starts the runner; called once. */
  run(pace: Pace): void {
    this.history.add('ExecutionStarted', { input: this.input, roleArn: 'arn:aws:iam::000000000000:role/local' })
    const definition = prepareDefinition(this.machine.definition, (container) => this.#gate.enter(container))
    const runner = new StateMachine(definition as unknown as StateMachineDefinition, {
      validationOptions: { noValidate: true },
    })
    const input = JSON.parse(this.input)
    const execution = {
      Id: this.arn,
      Name: this.name,
      Input: input,
      StartTime: new Date(this.startDate).toISOString(),
      RoleArn: 'arn:aws:iam::000000000000:role/local',
      RedriveCount: 0,
    }
    const run = runner.run(input, {
      // Its outcome is ours to tell: stop() has already done so.
      noThrowOnAbort: true,
      context: {
        [CONTEXT_EXECUTION]: execution,
        StateMachine: { Id: this.machine.arn, Name: this.machine.name },
      },
      overrides: this.#overrides(pace),
    })
    this.#abort = run.abort
    void this.#observe(run.eventLogs)
    run.result.then(
      (result) => this.#settle('SUCCEEDED', { output: JSON.stringify(result) }),
      (error: unknown) =>
        error instanceof ExecutionTimeoutError
          ? this.#settle('TIMED_OUT', {})
          : this.#settle('FAILED', failureOf(error)),
    )
  }

  /** StopExecution. Tasks that run are not interrupted, as in AWS; none starts any more. */
  stop(error?: string, cause?: string): void {
    this.#close('ABORTED', { error, cause })
    this.#abort()
  }

  #overrides(pace: Pace): NonNullable<RunOptions['overrides']> {
    const states = placedStates(this.machine.definition)
    const each = (type: (placed: PlacedState) => boolean, ms: number | undefined): Record<string, number> =>
      ms === undefined ? {} : Object.fromEntries(states.filter(type).map(({ name }) => [name, ms]))
    type Handlers = NonNullable<NonNullable<RunOptions['overrides']>['taskResourceLocalHandlers']>
    const tasks = states.filter(({ state }) => state.Type === 'Task')
    return {
      taskResourceLocalHandlers: Object.fromEntries(
        tasks.map((placed) => [placed.name, (input: unknown) => this.#task(placed, input)]),
      ) as Handlers,
      retryIntervalOverrides: each(({ state }) => 'Retry' in state, pace.retryMs),
      waitTimeOverrides: each(({ state }) => state.Type === 'Wait', pace.waitMs),
    }
  }

  /** One attempt of a task. */
  async #task({ name, state, container }: PlacedState, input: unknown): Promise<unknown> {
    const isWanted = () => !this.#isOver && (container === undefined || this.#gate.isOpen(container))
    // Lets the runner's events arrive first: whether the execution or the Map is over is known only then. Where it is
    // known already, all that is queued behind ends in this turn, before the execution can go on.
    if (isWanted()) await nextTurn()
    if (!isWanted())
      throw new TaskError('Sharelock.NotStarted', `${name} is not started: the execution or its Map is over`, false)
    const resource = String(state.Resource)
    const prefix = eventPrefix(resource)
    this.history.add(`${prefix}Scheduled`, { resource, input: JSON.stringify(input) })
    this.history.add(`${prefix}Started`)
    // Past the state's timeout, or once its Map has failed, nobody waits for the answer and AWS does not note it down.
    const deadline = Date.now() + Number(state.TimeoutSeconds ?? TIMEOUT_SECONDS_MAX) * 1_000
    const isAwaited = () => isWanted() && Date.now() < deadline
    try {
      const output = await taskRunner(resource)?.(input, this.#services, this.ended)
      if (isAwaited()) this.#checkPayload(name, output)
      if (isAwaited()) this.history.add(`${prefix}Succeeded`, { output: JSON.stringify(output) })
      return output
    } catch (error) {
      const failure = error instanceof TaskError ? error : new TaskError('States.Runtime', String(error), false)
      if (isAwaited()) this.history.add(`${prefix}Failed`, { error: failure.name, cause: failure.message })
      throw failure
    }
  }

  /** AWS ends the execution here, whatever it would catch. */
  #checkPayload(name: string, value: unknown): void {
    const bytes = bytesOf(value)
    this.maxPayloadBytes = Math.max(this.maxPayloadBytes, bytes)
    if (bytes <= PAYLOAD_BYTES_MAX) return
    const cause =
      `The state/task '${name}' returned a result with a size exceeding the maximum number of bytes service limit ` +
      `(${bytes} of ${PAYLOAD_BYTES_MAX}).`
    this.#fail('States.DataLimitExceeded', cause)
    throw new TaskError('States.DataLimitExceeded', cause, false)
  }

  async #observe(events: AsyncGenerator<RunnerEvent>): Promise<void> {
    const containers = new Map(placedStates(this.machine.definition).map(({ name, container }) => [name, container]))
    for await (const event of events) {
      const container = 'state' in event ? containers.get(event.state.name) : undefined
      if (!this.#gate.observe(event, container)) continue
      this.history.addRunnerEvent(event)
      if (this.history.events.length >= HISTORY_EVENTS_MAX)
        this.#fail(
          'States.Runtime',
          `The execution reached the maximum number of history events (${HISTORY_EVENTS_MAX}).`,
        )
      if (event.type !== 'StateEntered' && event.type !== 'StateExited') continue
      try {
        this.#checkPayload(event.state.name, event.type === 'StateExited' ? event.state.output : event.state.input)
      } catch {
        // The execution has been ended; there is nobody to tell here.
      }
    }
  }

  #fail(error: string, cause: string): void {
    this.#close('FAILED', { error, cause })
    this.#abort()
  }

  /** The runner is done. Nothing starts from now on, and its last events arrive before the history is closed. */
  async #settle(status: EndStatus, end: End): Promise<void> {
    this.#isOver = true
    await nextTurn()
    this.#close(status, end)
  }

  #close(status: EndStatus, end: End): void {
    if (this.status !== 'RUNNING') return
    this.#isOver = true
    this.status = status
    this.stopDate = Date.now()
    this.output = end.output
    this.error = end.error
    this.cause = end.cause
    this.history.close(END_EVENTS[status], { ...end })
    this.#end.resolve()
  }
}
