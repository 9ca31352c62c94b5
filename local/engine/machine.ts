import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions'
import { type Definition, placedStates } from './definition.ts'
import { refuseUnsupported } from './refuse.ts'
import { taskRunner } from './tasks.ts'

/** A hosted state machine. */
export type Machine = { readonly arn: string; readonly name: string; readonly definition: Definition }

/** Checks a definition once: valid by asl-validator, and nothing in it that would behave differently here. */
export const createMachine = (arn: string, definition: Definition): Machine => {
  const name = arn.slice(arn.lastIndexOf(':') + 1)
  refuseUnsupported(name, definition)
  // The constructor validates, and fills in defaults: it gets a copy. Each execution makes a machine of its own.
  new StateMachine(structuredClone(definition) as unknown as StateMachineDefinition)
  for (const { name: stateName, state } of placedStates(definition))
    if (state.Type === 'Task' && taskRunner(String(state.Resource)) === undefined)
      throw new Error(
        `The local engine cannot run ${name}: ${stateName} calls ${state.Resource}, which is not emulated`,
      )
  return { arn, name, definition }
}
