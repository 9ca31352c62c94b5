import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Definition, placedStates } from '../engine/definition.ts'
import type { LambdaFunction } from '../lambda/function.ts'
import { type AwsEnvironment, resolve, type Template } from './resolver.ts'

type TemplateMachine = { readonly name: string; readonly arn: string; readonly definition: Definition }

/** What the local stack takes from the synthesised app. */
export type App = { readonly functions: readonly LambdaFunction[]; readonly machines: readonly TemplateMachine[] }

/** The CDK ends logical ids with eight digits of a hash. */
const withoutHash = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}$/, '')

type Fields = Readonly<Record<string, unknown>>

/**
 * What a reference to a resource is here: of a function its name, of a version, an alias or a machine the ARN. Everything
 * else is a stranger: the local stack's own addresses take its place.
 */
const refsOf = ({ Resources }: Template, { region, account }: AwsEnvironment): ((id: string) => string) => {
  const refOf = (id: string): string => {
    const { Type, Properties = {} } = Resources[id] ?? { Type: id }
    const text = (field: string): string => String(resolve(Properties[field] ?? withoutHash(id), refOf))
    switch (Type) {
      case 'AWS::Partition':
        return 'aws'
      case 'AWS::Lambda::Function':
        return text('FunctionName')
      case 'AWS::Lambda::Version':
        return `arn:aws:lambda:${region}:${account}:function:${text('FunctionName')}:1`
      case 'AWS::Lambda::Alias':
        return `arn:aws:lambda:${region}:${account}:function:${text('FunctionName')}:${text('Name')}`
      case 'AWS::StepFunctions::StateMachine':
        return `arn:aws:states:${region}:${account}:stateMachine:${text('StateMachineName')}`
      default:
        return `local-${id}`
    }
  }
  return refOf
}

const readTemplate = (folder: string): Template => {
  const [name, ...others] = readdirSync(folder).filter((each) => each.endsWith('.template.json'))
  if (name === undefined) throw new Error(`There is no template in ${folder}`)
  if (others.length > 0) throw new Error(`There are several templates in ${folder}, and the stage local has one`)
  return JSON.parse(readFileSync(join(folder, name), 'utf8')) as Template
}

/** `<hash>.zip` in the template is the folder `asset.<hash>` beside it. */
const codeFolder = (folder: string, s3Key: unknown): string | undefined => {
  const asset = join(folder, `asset.${String(s3Key).replace(/\.zip$/, '')}`)
  return existsSync(asset) ? asset : undefined
}

/**
 * Reads the app's functions and machines from a folder that `cdk synth` wrote. A function is called like the state that
 * calls it where its id ends so, e.g. FunctionsStageSource04EF83ED -> StageSource, and else like its id.
 */
export const readApp = (folder: string, environment: AwsEnvironment): App => {
  const template = readTemplate(folder)
  const refOf = refsOf(template, environment)
  const text = (value: unknown): string => {
    const resolved = resolve(value, refOf)
    return typeof resolved === 'string' ? resolved : JSON.stringify(resolved)
  }
  const each = <Found>(type: string, read: (id: string, properties: Fields) => Found): Found[] =>
    Object.entries(template.Resources)
      .filter(([, { Type }]) => Type === type)
      .map(([id, { Properties = {} }]) => read(id, Properties))

  const machines = each('AWS::StepFunctions::StateMachine', (id, properties): TemplateMachine => {
    const arn = refOf(id)
    const definition = JSON.parse(text(properties.DefinitionString)) as Definition
    return { arn, name: arn.slice(arn.lastIndexOf(':') + 1), definition }
  })
  const functions = each('AWS::Lambda::Function', (id, properties): LambdaFunction | undefined => {
    const code = codeFolder(folder, (properties.Code as Fields | undefined)?.S3Key)
    // Inline code and the CDK's own helpers do not run here.
    if (code === undefined) return undefined
    const variables = (properties.Environment as { Variables?: Fields } | undefined)?.Variables ?? {}
    const name = refOf(id)
    return {
      name,
      arn: `arn:aws:lambda:${environment.region}:${environment.account}:function:${name}`,
      codeFolder: code,
      handler: String(properties.Handler),
      timeoutMs: Number(properties.Timeout ?? 3) * 1_000,
      memoryMb: Number(properties.MemorySize ?? 128),
      environment: Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, text(value)])),
    }
  }).filter((fn) => fn !== undefined)
  return callByState(functions, machines)
}

/**
 * Renames the functions, in the definitions too. What comes before the state's name is the construct around the
 * function; others in that construct lose it too, e.g. FunctionsSweeper -> Sweeper.
 */
const callByState = (functions: LambdaFunction[], machines: TemplateMachine[]): App => {
  const states = machines.flatMap(({ definition }) => placedStates(definition))
  const callerOf = (fn: LambdaFunction): string | undefined =>
    states.find(({ name, state }) => fn.name.endsWith(name) && String(state.Resource).startsWith(`${fn.arn}:`))?.name
  const scopes = new Set(functions.map((fn) => fn.name.slice(0, -(callerOf(fn) ?? fn.name).length)).filter(Boolean))
  const shortName = (fn: LambdaFunction): string => {
    const scope = [...scopes].find((prefix) => fn.name.startsWith(prefix)) ?? ''
    return callerOf(fn) ?? fn.name.slice(scope.length)
  }
  const renamed = functions.map((fn) => {
    const name = shortName(fn)
    return { from: fn, to: { ...fn, name, arn: fn.arn.replace(/[^:]+$/, name) } }
  })
  // With what follows it in JSON text, as one name may begin with another.
  const rename = (definition: Definition): Definition =>
    JSON.parse(
      renamed.reduce(
        (text, { from, to }) =>
          text.replaceAll(`"${from.arn}"`, `"${to.arn}"`).replaceAll(`"${from.arn}:`, `"${to.arn}:`),
        JSON.stringify(definition),
      ),
    )
  return {
    functions: renamed.map(({ to }) => to),
    machines: machines.map((machine) => ({ ...machine, definition: rename(machine.definition) })),
  }
}
