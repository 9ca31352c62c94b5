import { type Definition, isContainer, type State, type States } from './definition.ts'
import { TIMEOUT_SECONDS_MAX } from './refuse.ts'

/**
 * The runner overwrites `Execution` in the context of each Map item with the item's own; the execution's is under
 * this name too, and paths are pointed to it.
 */
export const CONTEXT_EXECUTION = 'TheExecution'

const pointPath = (text: string): string => text.replace(/\$\$\.Execution\b/g, `$$$$.${CONTEXT_EXECUTION}`)

const pointPaths = (value: unknown): unknown => {
  if (typeof value === 'string') return pointPath(value)
  if (Array.isArray(value)) return value.map(pointPaths)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, pointPaths(inner)]))
}

type Fields = Record<string, unknown>

/** `ResultPath: "$"` is the default, but the runner would write a field named "$". */
const dropRootResultPath = (holder: Fields): void => {
  if (holder.ResultPath === '$') delete holder.ResultPath
}

const prepareState = (name: string, state: State, onEnter: (container: string) => void): State => {
  const fields: Fields = { ...(pointPaths(state) as Fields) }
  dropRootResultPath(fields)
  for (const catcher of (fields.Catch as Fields[] | undefined) ?? []) dropRootResultPath(catcher)
  // Where AWS waits for ever, the runner would give up after 60 s.
  if (state.Type === 'Task' && fields.TimeoutSeconds === undefined && fields.TimeoutSecondsPath === undefined)
    fields.TimeoutSeconds = TIMEOUT_SECONDS_MAX
  if (isContainer(state)) {
    const field = state.Type === 'Parallel' ? 'Branches' : 'ItemProcessor'
    const inner =
      state.Type === 'Parallel'
        ? (fields.Branches as States[]).map((branch) => prepareStates(branch, onEnter))
        : prepareStates((fields.ItemProcessor ?? fields.Iterator) as States, onEnter)
    // The runner reads this field once per entry of the state, before it starts the first item: the only moment at
    // which one entry can be told from the next. See decisions.md, "A getter marks the entry of a Map".
    Object.defineProperty(fields, field, {
      enumerable: true,
      get: () => {
        onEnter(name)
        return inner
      },
    })
  }
  return fields as State
}

const prepareStates = <Machine extends States>(machine: Machine, onEnter: (container: string) => void): Machine => ({
  ...machine,
  States: Object.fromEntries(
    Object.entries(machine.States).map(([name, state]) => [name, prepareState(name, state, onEnter)]),
  ),
})

/**
 * A copy of the definition for one execution, with the runner's deviations evened out.
 *
 * @param onEnter called in the flow of the execution each time it enters a Map or Parallel state
 */
export const prepareDefinition = (definition: Definition, onEnter: (container: string) => void): Definition =>
  prepareStates(definition, onEnter)
