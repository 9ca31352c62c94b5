import { type Definition, isContainer, type PlacedState, placedStates } from './definition.ts'

/**
 * What aws-local-stepfunctions ignores silently or does differently from AWS. A definition that uses it would pass here
 * and do something else there, so it is refused when it is loaded.
 */

/** Fields of a state, with why each is refused. */
const REFUSED_FIELDS: Readonly<Record<string, string>> = {
  Assign: 'variables are not supported',
  Arguments: 'it belongs to JSONata',
  Output: 'it belongs to JSONata',
  Items: 'it belongs to JSONata',
  HeartbeatSeconds: 'heartbeats are not watched',
  HeartbeatSecondsPath: 'heartbeats are not watched',
  Credentials: 'roles are not assumed',
  ItemReader: 'it belongs to Distributed Map',
  ItemBatcher: 'it belongs to Distributed Map',
  ResultWriter: 'it belongs to Distributed Map',
  ToleratedFailureCount: 'it belongs to Distributed Map',
  ToleratedFailurePercentage: 'it belongs to Distributed Map',
}

/** Timers count milliseconds in 31 bits; longer ones fire at once. */
export const TIMEOUT_SECONDS_MAX = 2_147_483

const fieldProblems = ({ state }: PlacedState): string[] =>
  Object.entries(REFUSED_FIELDS)
    .filter(([field]) => field in state)
    .map(([field, why]) => `has ${field}: ${why}`)

const languageProblem = (holder: { readonly [field: string]: unknown }): string[] =>
  (holder.QueryLanguage ?? 'JSONPath') === 'JSONPath' ? [] : [`has QueryLanguage ${holder.QueryLanguage}`]

const mapProblems = ({ state, container }: PlacedState): string[] => {
  if (!isContainer(state)) return []
  const processor = state.ItemProcessor as { ProcessorConfig?: { Mode?: string } } | undefined
  return [
    ...(processor?.ProcessorConfig?.Mode === 'DISTRIBUTED' ? ['is a Distributed Map'] : []),
    // Its items could not be told apart from another item's once one of them failed.
    ...(container === undefined ? [] : [`is inside ${container}: a Map or Parallel state may not be nested`]),
  ]
}

const valueProblems = ({ state }: PlacedState): string[] => [
  // Taken for "no Result", so the input would pass instead.
  ...('Result' in state && !state.Result ? [`has Result ${JSON.stringify(state.Result)}, which is passed over`] : []),
  ...(Number(state.TimeoutSeconds ?? 0) > TIMEOUT_SECONDS_MAX ? [`has TimeoutSeconds ${state.TimeoutSeconds}`] : []),
  ...['ErrorPath', 'CausePath']
    .filter((field) => String(state[field] ?? '').startsWith('States.'))
    .map((field) => `has a function in ${field}: only a path is evaluated`),
]

/** Strings that are evaluated: `….$` fields and paths. */
const expressions = (value: unknown, isSelector = false): { text: string; isSelector: boolean }[] => {
  if (typeof value === 'string') return value.includes('$$') ? [{ text: value, isSelector }] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    // States inside a container are walked on their own.
    ['ItemProcessor', 'Iterator', 'Branches', 'Comment', 'Result'].includes(key)
      ? []
      : expressions(inner, isSelector || key === 'ItemSelector' || key === 'Parameters'),
  )
}

const contextProblems = ({ state }: PlacedState): string[] =>
  expressions(state).flatMap(({ text, isSelector }) =>
    [...text.matchAll(/\$\$(?:\.(\w+))?/g)].flatMap(([path, part]) => {
      if (part === 'Execution' || part === 'StateMachine') return []
      if (part === 'Map' && state.Type === 'Map' && isSelector) return []
      return [`reads ${path} of the context, which is not filled in here`]
    }),
  )

/** Everything in the definition that would not behave here as in AWS, one sentence each. */
const problemsOf = (definition: Definition): string[] => {
  const states = placedStates(definition)
  const repeated = states.filter(({ name }, index) => states.findIndex((other) => other.name === name) !== index)
  return [
    ...languageProblem(definition).map((problem) => `The machine ${problem}`),
    ...valueProblems({ name: '', state: { ...definition, Type: '' }, container: undefined }).map(
      (problem) => `The machine ${problem}`,
    ),
    ...repeated.map(({ name }) => `The name ${name} is used for two states`),
    ...states.flatMap((placed) =>
      [
        ...languageProblem(placed.state),
        ...fieldProblems(placed),
        ...mapProblems(placed),
        ...valueProblems(placed),
        ...contextProblems(placed),
      ].map((problem) => `${placed.name} ${problem}`),
    ),
  ]
}

/** Throws when the local engine cannot run the definition as AWS would. */
export const refuseUnsupported = (name: string, definition: Definition): void => {
  const problems = problemsOf(definition)
  if (problems.length > 0)
    throw new Error(`The local engine cannot run ${name} as AWS would:\n${problems.map((p) => `- ${p}`).join('\n')}`)
}
