import { expect, test } from 'vitest'
import { secretsIn } from '../../support/secret-search.ts'

/* The search that each suite ends with is only worth something where it finds what there is. */

const SECRETS = { words: ['a-long-password'], tokens: ['run-1/8c5f0a1e-1111-4222-8333-944455556666'] }
const find = (text: string, tokensAllowed = false) =>
  secretsIn([{ where: 'sweep.log:7', text }], SECRETS, tokensAllowed)

test.each([
  ['{"error":{"config":{"password":"a-long-password"}}}', 'a password or key'],
  ['{"token":"run-1/8c5f0a1e-1111-4222-8333-944455556666"}', "a lock's token"],
  ['HELLO 3 AUTH u g/?Action=connect&X-Amz-Signature=0f1e2d', 'a presigned login'],
  [`{"sql":"insert into job (lock_token) values ('x')"}`, 'a statement with its values'],
  [`{"sql":"update job set halt_cause = 'x' where id = 7"}`, 'a statement with its values'],
  [`create user 'a'@'%' identified by 'b'`, 'a statement with its values'],
])('%s is found, with its place', (text, what) => {
  const [found, ...others] = find(text)
  expect(found).toBe(`sweep.log:7: ${what}: ${text}`)
  expect(others).toEqual([])
})

test.each([
  'the lock of ARIA 2026-10 was taken by run-1',
  '{"token":"0f1e2d3c4b5a","message":"task failed"}',
  "Duplicate entry '7-2026-10' for key 'job_open_slice'",
  'last statement: UPDATE `job` SET `halt_cause` = ? WHERE `id` = ?',
  'X-Amz-Signature=***',
])('%s is nothing', (text) => {
  expect(find(text)).toEqual([])
})

test('a token that travels between tasks is nothing, and a password there is found all the same', () => {
  expect(find(`{"token":"${SECRETS.tokens[0]}"}`, true)).toEqual([])
  expect(find('a-long-password', true)).toHaveLength(1)
})
