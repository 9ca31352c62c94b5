import type { Template } from 'aws-cdk-lib/assertions'
import { beforeAll, describe, expect, test } from 'vitest'
import { operatorFunctionName } from '../../../functions/contract/operations.ts'
import { SUPPORT_NAMES, TASK_NAMES } from '../../../functions/contract/tasks.ts'
import { functionOf, stageTemplates } from '../synth.ts'

let job: Template

beforeAll(() => {
  job = stageTemplates('prod').job
}, 120_000)

const NAMES = [...TASK_NAMES, ...SUPPORT_NAMES]
type Statement = { readonly Sid: string; readonly Action: string | string[]; readonly Resource: unknown }

const statementsOf = (policy: string): Statement[] => {
  const [found] = Object.values(
    job.findResources('AWS::IAM::ManagedPolicy', { Properties: { ManagedPolicyName: policy } }),
  )
  return found?.Properties.PolicyDocument.Statement
}

const actionsIn = (policy: string) => statementsOf(policy).flatMap(({ Action }) => Action)

const invokedBy = (policy: string) =>
  statementsOf(policy)
    .filter(({ Action }) => Action === 'lambda:InvokeFunction')
    .map(({ Resource }) => JSON.stringify(Resource).replace(/[0-9A-F]{8}/, ''))

const READING = [
  'lambda:InvokeFunction',
  's3:GetObject',
  's3:ListBucket',
  'states:DescribeExecution',
  'states:DescribeStateMachine',
  'states:GetExecutionHistory',
  'states:ListExecutions',
]

describe('an operator', () => {
  test('may look, upload, start, stop and operate, and nothing else', () => {
    const actions = [...READING, 's3:PutObject', 'states:StartExecution', 'states:StopExecution']
    expect([...new Set(actionsIn('sharelock-prod-ap-northeast-2-operator'))].toSorted()).toEqual(actions.toSorted())
  })

  test('calls the two functions for operators by their plain names, and no other', () => {
    const arn = (name: string) => `{"Fn::GetAtt":["Functions${name}","Arn"]}`
    expect(invokedBy('sharelock-prod-ap-northeast-2-operator')).toEqual([arn('Inspect'), arn('Operate')])
    expect(invokedBy('sharelock-prod-ap-northeast-2-reader')).toEqual([arn('Inspect')])
  })

  test('that only reads may look at everything an operator sees and change nothing', () => {
    expect(actionsIn('sharelock-prod-ap-northeast-2-reader').toSorted()).toEqual(READING)
  })

  test.each(['operator', 'reader'])('%s is held to this stage: no statement names everything', (kind) => {
    for (const { Resource } of statementsOf(`sharelock-prod-ap-northeast-2-${kind}`)) expect(Resource).not.toBe('*')
    const text = JSON.stringify(statementsOf(`sharelock-prod-ap-northeast-2-${kind}`))
    for (const prefix of ['incoming', 'rejected', 'staged']) expect(text).toContain(`/${prefix}/*`)
  })

  test('finds the functions by the names that the stage gives', () => {
    for (const name of ['Inspect', 'Operate'] as const)
      expect(functionOf(job, name)).toMatchObject({ FunctionName: operatorFunctionName('prod', name) })
  })

  test('is told by Inspect, and by no other function, which machines there are', () => {
    const { STATE_MACHINE_ARN, DISPATCH_MACHINE_ARN } = functionOf(job, 'Inspect').Environment?.Variables ?? {}
    expect(STATE_MACHINE_ARN).toEqual({ Ref: expect.stringMatching(/^JobStateMachine/) })
    expect(DISPATCH_MACHINE_ARN).toEqual({ Ref: expect.stringMatching(/^DispatchStateMachine/) })
    const told = NAMES.filter((name) => 'STATE_MACHINE_ARN' in (functionOf(job, name).Environment?.Variables ?? {}))
    expect(told).toEqual(['Inspect'])
  })

  test('who is called may look where the runbook looks: the logs of every function, the queues, the metrics', () => {
    const statements = statementsOf('sharelock-prod-ap-northeast-2-on-call')
    const [logs, queues, metrics] = statements
    expect(statements).toHaveLength(3)
    const functions = Object.keys(job.findResources('AWS::Lambda::Function')).filter((id) => /^Functions/.test(id))
    expect(logs?.Resource).toHaveLength(functions.length)
    expect(queues?.Resource).toHaveLength(3)
    expect(metrics?.Resource).toBe('*')
    for (const action of [metrics?.Action].flat()) expect(action).toMatch(/:(Describe|Get|List)/)
    // AWS takes no larger policy; an ARN of a log group has about 120 characters.
    expect(JSON.stringify([queues, metrics]).length + functions.length * 125).toBeLessThan(6_144)
  })

  test('can redrive nothing', () => {
    expect(JSON.stringify(job.toJSON())).not.toContain('RedriveExecution')
  })
})
