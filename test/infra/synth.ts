import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { type FunctionName, handlerFile, SUPPORT_NAMES, TASK_NAMES } from '../../functions/contract/tasks.ts'
import { addStacks } from '../../infra/app.ts'
import type { StageConfig } from '../../infra/config/config.ts'
import { FLAGS } from '../../infra/config/flags.ts'
import { stageConfig } from '../../infra/config/stages.ts'
import type { Bundles } from '../../infra/functions/bundles.ts'
import type { StageStacks } from '../../infra/stacks/stage-stacks.ts'

export type Retrier = {
  readonly ErrorEquals: readonly string[]
  readonly IntervalSeconds: number
  readonly BackoffRate: number
  readonly MaxAttempts: number
  readonly MaxDelaySeconds?: number
  readonly JitterStrategy: 'FULL' | 'NONE'
}
type Catcher = { readonly ErrorEquals: readonly string[]; readonly ResultPath?: string; readonly Next: string }

/** As much of the Amazon States Language as the tests look at. */
export type State = {
  readonly Type: string
  readonly Next?: string
  readonly Default?: string
  readonly Choices?: readonly { readonly Next: string; readonly StringEquals?: string }[]
  readonly Resource?: string
  readonly TimeoutSeconds?: number
  readonly MaxConcurrency?: number
  readonly Retry?: readonly Retrier[]
  readonly Catch?: readonly Catcher[]
  readonly ItemProcessor?: Definition & { readonly ProcessorConfig: { readonly Mode: string } }
}
export type Definition = {
  readonly StartAt: string
  readonly TimeoutSeconds?: number
  readonly States: Readonly<Record<string, State>>
}

/** Replacements of the bundles: what is tested here is the template around the code. */
export const placeholders = (root: string): Bundles => {
  return new Map(
    [...TASK_NAMES, ...SUPPORT_NAMES].map(handlerFile).map((file) => {
      const folder = join(root, file)
      mkdirSync(folder)
      writeFileSync(join(folder, 'index.mjs'), `export const handler = async () => '${file}'\n`)
      return [file, folder]
    }),
  )
}

/** Runs `look` on the synthesised stacks of a stage. */
const withStacks = <T>(config: StageConfig, look: (stacks: StageStacks) => T): T => {
  const folder = mkdtempSync(join(tmpdir(), 'sharelock-synth-'))
  try {
    const app = new App({
      context: FLAGS,
      analyticsReporting: false,
      // It takes many seconds; test/infra/app.test.ts synthesises with it.
      builtinCloudFormationValidation: false,
      outdir: join(folder, 'out'),
    })
    return look(addStacks(app, config, placeholders(folder)))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The template of a stage's job stack. */
export const jobTemplate = (stage = 'local'): Template =>
  withStacks(stageConfig(stage), ({ job }) => Template.fromStack(job))

/** Both templates of a stage that is deployed. */
export const stageTemplates = (config: string | StageConfig): { data: Template; job: Template } =>
  withStacks(typeof config === 'string' ? stageConfig(config) : config, ({ data, job }) => {
    if (data === undefined) throw new Error('The local stage has no data stack')
    return { data: Template.fromStack(data), job: Template.fromStack(job) }
  })

/** A machine's definition, with each version's reference as an ARN that ends in its logical id. */
export const definitionOf = (template: Template, machine: 'Job' | 'Dispatch' = 'Job'): Definition => {
  const machines = Object.entries(template.findResources('AWS::StepFunctions::StateMachine'))
  const definition: unknown = machines.find(([id]) => id.startsWith(machine))?.[1].Properties.DefinitionString
  return JSON.parse(resolve(definition)) as Definition
}

/** Joins what CloudFormation would join. */
const resolve = (value: unknown): string => {
  if (typeof value === 'string') return value
  const intrinsic = value as { Ref?: string; 'Fn::Join'?: [string, unknown[]] }
  if (intrinsic['Fn::Join'] !== undefined) return intrinsic['Fn::Join'][1].map(resolve).join(intrinsic['Fn::Join'][0])
  if (intrinsic.Ref === 'AWS::Partition') return 'aws'
  if (intrinsic.Ref?.includes('StateMachine'))
    return `arn:aws:states:ap-northeast-2:123456789012:stateMachine:${intrinsic.Ref}`
  if (intrinsic.Ref !== undefined) return `arn:aws:lambda:ap-northeast-2:123456789012:function:${intrinsic.Ref}`
  throw new Error(`The definition holds what is not resolved here: ${JSON.stringify(value)}`)
}

/** Every state, those inside Maps included, by its name. */
export const allStates = (definition: Definition): Map<string, State> => {
  const states = new Map<string, State>()
  for (const [name, state] of Object.entries(definition.States)) {
    states.set(name, state)
    if (state.ItemProcessor !== undefined)
      for (const [inner, innerState] of allStates(state.ItemProcessor)) states.set(inner, innerState)
  }
  return states
}

type Statement = { readonly Action: string | string[]; readonly Resource: unknown }

/** The actions that a function's role allows by its own policies, sorted; managed policies aside. */
export const actionsOf = (template: Template, name: FunctionName): string[] => {
  const policies = Object.entries(template.findResources('AWS::IAM::Policy')).filter(([id]) =>
    id.startsWith(`Functions${name}ServiceRole`),
  )
  const statements = policies.flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement as Statement[])
  return [...new Set(statements.flatMap(({ Action }) => Action))].toSorted()
}

/** As much of a function's properties as the tests look at. */
export type FunctionProperties = {
  readonly Environment?: { readonly Variables: Readonly<Record<string, unknown>> }
  readonly ReservedConcurrentExecutions?: number
  readonly VpcConfig?: { readonly SecurityGroupIds: readonly unknown[]; readonly SubnetIds: readonly unknown[] }
}

export const functionOf = (template: Template, name: FunctionName): FunctionProperties => {
  const functions = Object.entries(template.findResources('AWS::Lambda::Function'))
  const found = functions.find(([id]) => new RegExp(`^Functions${name}[0-9A-F]{8}$`).test(id))
  if (found === undefined) throw new Error(`There is no function ${name}`)
  return found[1].Properties
}
