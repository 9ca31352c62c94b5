import { expect, test } from 'vitest'
import { executionNameOf, rejectKey, sentenceOf } from '../../../functions/contract/execution.ts'

const ARN = 'arn:aws:states:ap-northeast-2:1:execution:Job:ARIA-1'

test("an execution's name is the end of its ARN, or what is a name already", () => {
  expect([ARN, 'ARIA-1', ''].map(executionNameOf)).toEqual(['ARIA-1', 'ARIA-1', ''])
})

test.each([
  [
    'a message in JSON',
    JSON.stringify({ errorType: 'ChunkMismatch', errorMessage: 'chunk 3 differs' }),
    'chunk 3 differs',
  ],
  ['an empty message', '{"errorMessage":""}', ''],
  ['JSON without a message', '{"trace":[]}', '{"trace":[]}'],
  ['JSON that is no object', 'null', 'null'],
  ['plain text', 'the task timed out', 'the task timed out'],
  ['nothing', undefined, ''],
])('the sentence of a cause that is %s', (_, cause, sentence) => {
  expect(sentenceOf(cause)).toBe(sentence)
})

test('the report of a refused file is found by its execution, under a key that S3 takes', () => {
  const slice = { distributor: 'ARIA', month: '2026-10' }
  expect(rejectKey(slice, ARN)).toBe('rejected/ARIA/2026-10/ARIA-1.json')
  expect(rejectKey(slice, 'ARIA-1')).toBe(rejectKey(slice, ARN))
  expect(rejectKey(slice, `x:${'n'.repeat(200)}`)).toBe(`rejected/ARIA/2026-10/${'n'.repeat(80)}.json`)
  expect(rejectKey(slice, 'x:a b/../c')).toBe('rejected/ARIA/2026-10/a_b____c.json')
})
