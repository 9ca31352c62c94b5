import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { handlerFile, TASK_NAMES } from '../../functions/contract/tasks.ts'
import { buildStage } from '../../infra/app.ts'
import type { Bundles } from '../../infra/bundles.ts'
import { FLAGS } from '../../infra/flags.ts'

export type Retrier = {
  readonly ErrorEquals: readonly string[]
  readonly IntervalSeconds: number
  readonly BackoffRate: number
  readonly MaxAttempts: number
  readonly MaxDelaySeconds?: number
  readonly JitterStrategy: 'FULL' | 'NONE'
}
export type Catcher = { readonly ErrorEquals: readonly string[]; readonly ResultPath?: string; readonly Next: string }

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

/** Stand-ins for the bundles: what is tested here is the template around the code. */
const placeholders = (root: string): Bundles => {
  return new Map(
    TASK_NAMES.map(handlerFile).map((file) => {
      const folder = join(root, file)
      mkdirSync(folder)
      writeFileSync(join(folder, 'index.mjs'), `export const handler = async () => '${file}'\n`)
      return [file, folder]
    }),
  )
}

/** The template of a stage's job stack. */
export const jobTemplate = (stage = 'local'): Template => {
  const folder = mkdtempSync(join(tmpdir(), 'sharelock-synth-'))
  try {
    const app = new App({
      context: FLAGS,
      analyticsReporting: false,
      // It takes seconds; test/infra/app.test.ts synthesises with it.
      builtinCloudFormationValidation: false,
      outdir: join(folder, 'out'),
    })
    return Template.fromStack(buildStage(app, stage, placeholders(folder)).job)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The state machine's definition, with each version's reference as an ARN that ends in its logical id. */
export const definitionOf = (template: Template): Definition => {
  const machines = Object.values(template.findResources('AWS::StepFunctions::StateMachine'))
  const definition: unknown = machines[0]?.Properties.DefinitionString
  return JSON.parse(resolve(definition)) as Definition
}

/** Joins what CloudFormation would join. */
const resolve = (value: unknown): string => {
  if (typeof value === 'string') return value
  const intrinsic = value as { Ref?: string; 'Fn::Join'?: [string, unknown[]] }
  if (intrinsic['Fn::Join'] !== undefined) return intrinsic['Fn::Join'][1].map(resolve).join(intrinsic['Fn::Join'][0])
  if (intrinsic.Ref === 'AWS::Partition') return 'aws'
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
