import type { StateMachine } from 'aws-local-stepfunctions'

/** An event of the runner. */
export type RunnerEvent =
  ReturnType<StateMachine['run']>['eventLogs'] extends AsyncGenerator<infer Event> ? Event : never

/** An event of GetExecutionHistory, in the API's own shape; details are under the name of their type. */
export type HistoryEvent = {
  readonly id: number
  readonly previousEventId: number
  readonly timestamp: number
  readonly type: string
  readonly [details: `${string}EventDetails`]: Readonly<Record<string, unknown>> | undefined
}

type Details = Readonly<Record<string, unknown>>

const text = (value: unknown): string => JSON.stringify(value) ?? 'null'
const isContainerType = (type: string): boolean => type === 'Map' || type === 'Parallel'
const causeText = (cause: unknown): string => (typeof cause === 'string' ? cause : text(cause))

/** Names the details field: `LambdaFunctionFailed` -> `lambdaFunctionFailedEventDetails`; states share theirs. */
const detailsName = (type: string): `${string}EventDetails` => {
  if (type.endsWith('StateEntered')) return 'stateEnteredEventDetails'
  if (type.endsWith('StateExited')) return 'stateExitedEventDetails'
  if (/^MapIteration(Started|Succeeded|Failed|Aborted)$/.test(type)) return `m${type.slice(1)}EventDetails`
  return `${type.charAt(0).toLowerCase()}${type.slice(1)}EventDetails`
}

/**
 * The history of one execution. It counts what AWS counts: per Lambda task an entered, scheduled, started, succeeded
 * and exited event, so a definition that comes near the limit of 25,000 here does so there.
 */
export class History {
  readonly events: HistoryEvent[] = []
  /** Containers that failed and are being left by their Catch. */
  readonly #failed = new Set<string>()
  #isClosed = false

  add(type: string, details?: Details): void {
    if (this.#isClosed) return
    const id = this.events.length + 1
    this.events.push({
      id,
      previousEventId: id - 1,
      timestamp: Date.now(),
      type,
      ...(details === undefined ? {} : { [detailsName(type)]: details }),
    })
  }

  /** Adds the last event; what the runner still says afterwards is left out, as the execution is over. */
  close(type: string, details?: Details): void {
    this.add(type, details)
    this.#isClosed = true
  }

  /** Writes down an event of the runner. Start and end of the execution and its Lambda calls are added by others. */
  addRunnerEvent(event: RunnerEvent): void {
    switch (event.type) {
      case 'StateEntered':
        this.add(`${event.state.type}StateEntered`, { name: event.state.name, input: text(event.state.input) })
        if (isContainerType(event.state.type)) this.add(`${event.state.type}StateStarted`)
        return
      case 'StateExited':
        if (isContainerType(event.state.type) && !this.#failed.delete(event.state.name))
          this.add(`${event.state.type}StateSucceeded`)
        this.add(`${event.state.type}StateExited`, { name: event.state.name, output: text(event.state.output) })
        return
      case 'StateFailed': {
        const details = { error: event.Error, cause: causeText(event.Cause) }
        if (isContainerType(event.state.type)) {
          this.#failed.add(event.state.name)
          this.add(`${event.state.type}StateFailed`, details)
        }
        // The runner's own timer: the Lambda goes on unattended.
        if (event.state.type === 'Task' && event.Error === 'States.Timeout') this.add('LambdaFunctionTimedOut', details)
        return
      }
      case 'StateRetried':
        if (!isContainerType(event.state.type)) return
        this.#failed.delete(event.state.name)
        this.add(`${event.state.type}StateStarted`)
        return
      case 'MapIterationStarted':
      case 'MapIterationSucceeded':
      case 'MapIterationFailed':
        this.add(event.type, { name: event.parentState.name, index: event.index })
        return
    }
  }
}
