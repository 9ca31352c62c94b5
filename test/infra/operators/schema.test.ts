import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

import { profileSchema } from '../../../functions/contract/profile-schema.ts'
import { executionInputSchema } from '../../../infra/operators/execution-input.ts'

test("the operators' JSON schema is the one that the job checks by; if not: node bin/schema.ts", () => {
  const checkedIn: unknown = JSON.parse(readFileSync('docs/execution-input.schema.json', 'utf8'))
  expect(checkedIn).toEqual(executionInputSchema())
})

test("the profiles' JSON schema is the one that they are checked by; if not: node bin/schema.ts", () => {
  const checkedIn: unknown = JSON.parse(readFileSync('docs/profile.schema.json', 'utf8'))
  expect(checkedIn).toEqual(profileSchema())
})
