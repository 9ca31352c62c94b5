import { Match, type Template } from 'aws-cdk-lib/assertions'
import { beforeAll, describe, expect, test } from 'vitest'
import { SUPPORT, TASK_NAMES, TASKS } from '../../../functions/contract/tasks.ts'
import { allStates, definitionOf, jobTemplate } from '../synth.ts'

let template: Template
beforeAll(() => {
  template = jobTemplate()
}, 60_000)

type Statement = { readonly Action: string | string[]; readonly Resource: unknown }

const { Migrate: _, ...SUPPORT_HERE } = SUPPORT
const SPECS = { ...TASKS, ...SUPPORT_HERE }
const NAMES = Object.keys(SPECS) as (keyof typeof SPECS)[]

describe('the functions', () => {
  test.each(NAMES)('%s has its memory, its timeout, and a log group that ends', (task) => {
    const { memoryMb, lambdaTimeoutS } = SPECS[task]
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: `Sharelock local: ${task}`,
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      MemorySize: memoryMb,
      Timeout: lambdaTimeoutS,
      LoggingConfig: { LogGroup: { Ref: Match.stringLikeRegexp(`^Functions${task}Log`) } },
    })
  })

  test.each(NAMES)('%s has a role of its own', (task) => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: `Sharelock local: ${task}`,
      Role: { 'Fn::GetAtt': [Match.stringLikeRegexp(`^Functions${task}ServiceRole`), 'Arn'] },
    })
  })

  test('PlanDelete sees the names under staged/ and no others, and reads manifests and no rows', () => {
    const [policy] = Object.entries(template.findResources('AWS::IAM::Policy')).filter(([id]) =>
      /^FunctionsPlanDeleteServiceRole/.test(id),
    )
    const statements: (Statement & { Condition?: unknown })[] = policy?.[1].Properties.PolicyDocument.Statement
    const find = (action: string) => statements.find(({ Action }) => Action === action)
    expect(find('s3:ListBucket')?.Condition).toEqual({ StringLike: { 's3:prefix': 'staged/*' } })
    expect(JSON.stringify(find('s3:GetObject')?.Resource)).toMatch(/\/staged\/\*\/manifest\.json"/)
  })

  // The others are no tasks: where nothing is scheduled nobody calls Sweep by version, and operators call by plain names.
  test('keep a version for the executions that began with it', () => {
    template.resourceCountIs('AWS::Lambda::Version', [...TASK_NAMES, 'PlanMonth'].length)
    template.allResources('AWS::Lambda::Version', {
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    })
  })
})

describe('the state machine', () => {
  test('is a Standard workflow that logs names and outcomes, and no data', () => {
    template.hasResourceProperties('AWS::StepFunctions::StateMachine', {
      StateMachineType: 'STANDARD',
      LoggingConfiguration: { IncludeExecutionData: false, Level: 'ALL' },
    })
    template.hasResourceProperties('AWS::Logs::LogGroup', { LogGroupName: '/aws/vendedlogs/states/sharelock-local' })
  })

  test('may invoke any version of its functions, and nothing else', () => {
    const [policy] = Object.values(template.findResources('AWS::IAM::Policy')).filter(({ Properties }) =>
      JSON.stringify(Properties.Roles).includes('JobStateMachineRole'),
    )
    const statements = policy?.Properties.PolicyDocument.Statement as Statement[]
    const invoked = JSON.stringify(statements.filter(({ Action }) => Action === 'lambda:InvokeFunction'))
    for (const task of TASK_NAMES)
      expect(invoked).toMatch(new RegExp(`"Fn::GetAtt":\\["Functions${task}\\w{8}","Arn"\\]\\},":\\*"`))
    const others = statements.flatMap(({ Action }) => Action).filter((action) => action !== 'lambda:InvokeFunction')
    for (const action of others) expect(action).toMatch(/^logs:/)
  })

  test('runs as many lanes as the stage says', () => {
    const states = allStates(definitionOf(template))
    for (const name of ['DeleteChunks', 'RegisterChunks']) expect(states.get(name)?.MaxConcurrency).toBe(2)
  })

  test('can not be redriven by anything in the stack', () => {
    expect(JSON.stringify(template.toJSON())).not.toContain('RedriveExecution')
  })
})
