import { writeFileSync } from 'node:fs'
import { executionInputSchema } from '../infra/operators/execution-input.ts'

/** Writes docs/execution-input.schema.json, which a test compares with the code. */
writeFileSync('docs/execution-input.schema.json', `${JSON.stringify(executionInputSchema(), null, 2)}\n`)
