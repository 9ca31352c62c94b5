import { randomUUID } from 'node:crypto'
import { PAYLOAD_BYTES_MAX } from '../../functions/contract/limits.ts'
import type { Definition } from './definition.ts'
import { Execution, type Pace } from './execution.ts'
import { createMachine, type Machine } from './machine.ts'
import { ServiceError } from './service-error.ts'
import { type StatusEvent, statusEvent } from './status-event.ts'
import type { TaskServices } from './tasks.ts'

const NAME_CHARS_MAX = 80
/** What AWS forbids in a name: white space, brackets, wildcards, special and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is forbidden
const NAME_FORBIDDEN = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\u0000-\u001f\u007f-\u009f]/

const checkName = (name: string): void => {
  if (name.length < 1 || name.length > NAME_CHARS_MAX || NAME_FORBIDDEN.test(name))
    throw new ServiceError('InvalidName', `Invalid Name: '${name}'`)
}

const checkInput = (input: string): void => {
  if (Buffer.byteLength(input) > PAYLOAD_BYTES_MAX)
    throw new ServiceError('ValidationException', `Value at 'input' must have length of at most ${PAYLOAD_BYTES_MAX}`)
  try {
    JSON.parse(input)
  } catch (error) {
    throw new ServiceError('InvalidExecutionInput', `Invalid State Machine Execution Input: '${error}'`)
  }
}

/** Runs executions of the machines it hosts: what StartExecution and its siblings do in AWS. */
export class Engine {
  /** Taken by each execution as it starts. */
  pace: Pace = {}
  readonly #services: TaskServices
  readonly #machines = new Map<string, Machine>()
  readonly #executions = new Map<string, Execution>()
  readonly #listeners = new Set<(event: StatusEvent) => void>()

  constructor(services: Omit<TaskServices, 'startExecution'>) {
    this.#services = {
      ...services,
      startExecution: (machineArn, input, name) => this.start(machineArn, input, name),
    }
  }

  /** Hosts a machine; throws where its definition would not run here as in AWS. */
  host(arn: string, definition: Definition): Machine {
    const machine = createMachine(arn, definition)
    this.#machines.set(arn, machine)
    return machine
  }

  /** Calls back for each end of an execution, with what EventBridge would deliver. Returns how to stop. */
  onStatusEvent(listener: (event: StatusEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Starts an execution. A name is idempotent as in AWS: the same name and input while it runs gives the same execution;
   * another input, or an execution that is over, is refused.
   */
  start(machineArn: string, input: string, name: string = randomUUID()): Execution {
    checkName(name)
    checkInput(input)
    const machine = this.machine(machineArn)
    const execution = new Execution(machine, name, input, this.#services)
    const existing = this.#executions.get(execution.arn)
    if (existing !== undefined) {
      if (existing.status === 'RUNNING' && existing.input === input) return existing
      throw new ServiceError('ExecutionAlreadyExists', `Execution Already Exists: '${execution.arn}'`)
    }
    this.#executions.set(execution.arn, execution)
    execution.run(this.pace)
    void execution.ended.then(() => {
      for (const listener of this.#listeners) listener(statusEvent(execution))
    })
    return execution
  }

  /** Forgets an execution that is over, as Step Functions does after 90 days: from then on its name may be used again. */
  forget(arn: string): void {
    if (this.execution(arn).status !== 'RUNNING') this.#executions.delete(arn)
  }

  machine(arn: string): Machine {
    const machine = this.#machines.get(arn)
    if (machine === undefined)
      throw new ServiceError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`)
    return machine
  }

  execution(arn: string): Execution {
    const execution = this.#executions.get(arn)
    if (execution === undefined) throw new ServiceError('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`)
    return execution
  }

  /** The executions of a machine, or of all, newest first. */
  executions(machineArn?: string): Execution[] {
    return [...this.#executions.values()]
      .filter((one) => machineArn === undefined || one.machine.arn === machineArn)
      .reverse()
  }

  /** Ends what runs and tells nobody: the stack is going away. */
  close(): void {
    this.#listeners.clear()
    for (const execution of this.#executions.values()) if (execution.status === 'RUNNING') execution.stop()
  }
}
