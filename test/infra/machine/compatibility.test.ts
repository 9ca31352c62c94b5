import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { TASK_NAMES, type TaskName } from '../../../functions/contract/tasks.ts'
import { type Definition, definitionOf, jobTemplate } from '../synth.ts'
import { execute, failing, type Json, REQUEST } from './engine.ts'
import { SCHEMAS } from './schemas.ts'

/*
 * An execution ends with the definition and the function versions it began with, so those two always fit. Three things
 * cross a deployment all the same: the inputs of StartExecution that people and schedules keep, the status events of old
 * executions, and a resumed job's rows. And one that must not be relied on: a definition whose versions were removed.
 * So every input that a deployed definition ever gave its tasks stays acceptable to the tasks of today.
 *
 * task-inputs.json holds them by version. Change a message and this test says which version it breaks; a change that
 * only adds is recorded as a new version: node test/infra/machine/record-inputs.ts
 */
type Recorded = {
  readonly version: number
  readonly request: Json
  readonly inputs: Readonly<Partial<Record<TaskName, Json[]>>>
}

const versions = JSON.parse(readFileSync('test/infra/machine/task-inputs.json', 'utf8')) as Recorded[]

let definition: Definition
beforeAll(() => {
  definition = definitionOf(jobTemplate())
}, 60_000)

describe.each(versions.map((recorded) => [recorded.version, recorded] as const))(
  'version %i',
  (_, { request, inputs }) => {
    test.each(TASK_NAMES)('what it gave %s is still taken', (task) => {
      for (const input of inputs[task] ?? []) {
        const { success, error } = SCHEMAS[task].safeParse(input)
        expect(success, error?.message).toBe(true)
      }
    })

    test('its requests still run', async () => {
      const run = await execute(definition, {}, request)
      expect(run.path.at(-1)).toBe('Registered')
    })
  },
)

describe('the newest version', () => {
  test('is what the definition gives its tasks today', async () => {
    const newest = versions.at(-1)
    for (const stubs of [{}, failing('DeleteChunk', 'LockLost'), failing('MarkRegistered', 'SliceMismatch')]) {
      const run = await execute(definition, stubs, REQUEST)
      for (const { task, input } of run.calls)
        expect(newest?.inputs[task]?.map(shapeOf), task).toContainEqual(shapeOf(input))
    }
  })
})

/** Names and kinds, without values: tokens and numbers differ from run to run. */
const shapeOf = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (value === null) return 'null'
  if (typeof value !== 'object') return typeof value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted()
      .map(([key, inner]) => [key, shapeOf(inner)]),
  )
}
