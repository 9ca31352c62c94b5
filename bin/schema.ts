import { writeFileSync } from 'node:fs'
import { profileSchema } from '../functions/contract/profile-schema.ts'
import { executionInputSchema } from '../infra/operators/execution-input.ts'

const write = (file: string, schema: object): void => {
  writeFileSync(file, `${JSON.stringify(schema, null, 2)}\n`)
}

/** Writes the JSON schemas of docs/, which tests compare with the code. */
write('docs/execution-input.schema.json', executionInputSchema())
write('docs/profile.schema.json', profileSchema())
