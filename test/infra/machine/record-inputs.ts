import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { definitionOf, jobTemplate } from '../synth.ts'
import { execute, failing, type Json, REQUEST, type Run } from './engine.ts'

/**
 * Adds what today's definition gives its tasks to task-inputs.json, as one more version. Run it when a message changed in
 * a way that older inputs still pass; see compatibility.test.ts.
 */
/** More would repeat shapes that are known. */
const INPUTS_PER_TASK = 4

const FILE = 'test/infra/machine/task-inputs.json'

const definition = definitionOf(jobTemplate())
const runs: Run[] = []
for (const [stubs, request] of [
  [{}, REQUEST],
  [failing('DeleteChunk', 'LockLost'), REQUEST],
  [failing('AcquireLock', ...Array<string>(6).fill('LockUnreachable')), { ...REQUEST, onOutage: 'proceed' }],
  [failing('OpenJob', 'JobOpenError'), REQUEST],
  [failing('MarkRegistered', 'SliceMismatch'), REQUEST],
] as const)
  runs.push(await execute(definition, stubs, request as Json))

const inputs: Record<string, Json[]> = {}
for (const { task, input } of runs.flatMap(({ calls }) => calls)) {
  const known = inputs[task] ?? []
  if (known.length < INPUTS_PER_TASK) inputs[task] = [...known, input]
}
const versions = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as { version: number }[]) : []
const version = (versions.at(-1)?.version ?? 0) + 1
writeFileSync(FILE, `${JSON.stringify([...versions, { version, request: REQUEST, inputs }], null, 1)}\n`)
console.log(`recorded version ${version}`)
