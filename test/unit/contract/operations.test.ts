import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readDeployment } from '../../../functions/contract/deployment-env.ts'
import { InspectInput, OperateInput, operatorFunctionName } from '../../../functions/contract/operations.ts'
import { isoTime } from '../../../functions/store/mysql/time.ts'
import { MIGRATIONS } from '../../../functions/store/schema/migration-files.ts'

describe('a range of months', () => {
  test('is asked of every question that has one', () => {
    for (const question of ['slices', 'checks']) {
      expect(InspectInput.safeParse({ question, from: '2026-12', to: '2027-01' }).success).toBe(true)
      expect(InspectInput.safeParse({ question, from: '2026-12', to: '2026-11' }).success).toBe(false)
      expect(InspectInput.safeParse({ question, from: '2026-12', to: '2028-12' }).success).toBe(false)
    }
  })
})

test('what an operator leaves out has its default', () => {
  expect(InspectInput.parse({ question: 'audit' })).toEqual({ question: 'audit', limit: 100 })
  expect(OperateInput.parse({ action: 'stop', caller: 'kim', job: 1 })).toMatchObject({ why: '' })
})

test('the functions for operators are found by their stage', () => {
  expect(operatorFunctionName('prod', 'Inspect')).toBe('sharelock-prod-inspect')
})

test('a deployment without its machines is refused, naming the variable', () => {
  const good = { STAGE: 'x', BUCKET: 'b', STATE_MACHINE_ARN: 'arn:aws:a', DISPATCH_MACHINE_ARN: 'arn:aws:b' }
  expect(readDeployment(good)).toEqual({
    stage: 'x',
    bucket: 'b',
    stateMachineArn: 'arn:aws:a',
    dispatchMachineArn: 'arn:aws:b',
  })
  expect(() => readDeployment({ ...good, STATE_MACHINE_ARN: undefined })).toThrow(/STATE_MACHINE_ARN/)
})

test('the list of migrations is that of the folder', () => {
  expect(readdirSync('functions/store/schema/migrations').toSorted()).toEqual([...MIGRATIONS])
})

test("MySQL's moments become ISO 8601 in UTC with milliseconds", () => {
  expect(isoTime('2026-10-10 02:00:00.123456')).toBe('2026-10-10T02:00:00.123Z')
})
