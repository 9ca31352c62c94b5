/** A definition in the Amazon States Language, as far as this engine looks into it. */
export type State = { readonly Type: string; readonly [field: string]: unknown }
export type States = { readonly StartAt: string; readonly States: Readonly<Record<string, State>> }
export type Definition = States & { readonly TimeoutSeconds?: number; readonly [field: string]: unknown }

/** A state and where it is: inside the Map or Parallel state `container`, or at the top. */
export type PlacedState = { readonly name: string; readonly state: State; readonly container: string | undefined }

/** The machines inside a state: a Map's item processor, a Parallel's branches. */
const innerMachines = (state: State): States[] => {
  if (state.Type === 'Map') return [(state.ItemProcessor ?? state.Iterator) as States]
  if (state.Type === 'Parallel') return state.Branches as States[]
  return []
}

export const isContainer = (state: State): boolean => state.Type === 'Map' || state.Type === 'Parallel'

/** Every state of a machine, inner ones after their container. */
export const placedStates = (machine: States, container?: string): PlacedState[] =>
  Object.entries(machine.States).flatMap(([name, state]) => [
    { name, state, container },
    ...innerMachines(state).flatMap((inner) => placedStates(inner, name)),
  ])
