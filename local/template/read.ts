import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Definition, placedStates } from '../engine/definition.ts'
import type { LambdaFunction } from '../lambda/function.ts'
import { type AwsEnvironment, type Names, Resolver, type Template } from './resolver.ts'

type TemplateMachine = { readonly name: string; readonly arn: string; readonly definition: Definition }

/** What the local stack takes from the synthesised app. */
export type App = { readonly functions: readonly LambdaFunction[]; readonly machines: readonly TemplateMachine[] }

/** The CDK ends logical ids with eight digits of a hash. */
const withoutHash = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}$/, '')

/** Functions, versions, aliases and machines have names here; everything else is a stranger. */
const namesAt =
  ({ region, account }: AwsEnvironment): Names =>
  (logicalId, { Type, Properties = {} }, resolver) => {
    const named = (field: string) => resolver.text(Properties[field] ?? withoutHash(logicalId))
    if (Type === 'AWS::Lambda::Function') {
      const name = named('FunctionName')
      return { ref: name, arn: `arn:aws:lambda:${region}:${account}:function:${name}` }
    }
    if (Type === 'AWS::Lambda::Version' || Type === 'AWS::Lambda::Alias') {
      const qualifier = Type === 'AWS::Lambda::Version' ? '1' : named('Name')
      const fn = resolver.text(Properties.FunctionName)
      const arn = `${fn.startsWith('arn:') ? fn : `arn:aws:lambda:${region}:${account}:function:${fn}`}:${qualifier}`
      return { ref: arn, arn }
    }
    if (Type === 'AWS::StepFunctions::StateMachine') {
      const name = named('StateMachineName')
      const arn = `arn:aws:states:${region}:${account}:stateMachine:${name}`
      return { ref: arn, arn }
    }
    return undefined
  }

const readTemplates = (folder: string): Template[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.template.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Template)

/** `<hash>.zip` in the template is the folder `asset.<hash>` beside it. */
const codeFolder = (folder: string, s3Key: unknown): string | undefined => {
  const asset = join(folder, `asset.${String(s3Key).replace(/\.zip$/, '')}`)
  return existsSync(asset) ? asset : undefined
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads the app's functions and machines from a folder that `cdk synth` wrote. A function is called like the state that
 * calls it where its id ends so, e.g. FunctionsStageSource04EF83ED -> StageSource, and else like its id.
 */
export const readApp = (folder: string, environment: AwsEnvironment): App => {
  const templates = readTemplates(folder)
  if (templates.length === 0) throw new Error(`There is no template in ${folder}`)
  const each = <Found>(type: string, read: (id: string, properties: Fields, resolver: Resolver) => Found): Found[] =>
    templates.flatMap((template) => {
      const resolver = new Resolver(template, templates, environment, namesAt(environment))
      return Object.entries(template.Resources)
        .filter(([, { Type }]) => Type === type)
        .map(([id, { Properties = {} }]) => read(id, Properties, resolver))
    })

  const machines = each('AWS::StepFunctions::StateMachine', (id, properties, resolver): TemplateMachine => {
    const text = resolver.text(properties.DefinitionString ?? properties.Definition)
    const arn = resolver.text({ Ref: id })
    return { arn, name: arn.slice(arn.lastIndexOf(':') + 1), definition: JSON.parse(text) as Definition }
  })
  const functions = each('AWS::Lambda::Function', (id, properties, resolver): LambdaFunction | undefined => {
    const code = codeFolder(folder, resolver.resolve((properties.Code as Fields | undefined)?.S3Key))
    // Inline code and the CDK's own helpers do not run here.
    if (code === undefined) return undefined
    const variables = (properties.Environment as { Variables?: Fields } | undefined)?.Variables ?? {}
    return {
      name: resolver.text({ Ref: id }),
      arn: resolver.text({ 'Fn::GetAtt': [id, 'Arn'] }),
      codeFolder: code,
      handler: String(properties.Handler),
      timeoutMs: Number(properties.Timeout ?? 3) * 1_000,
      memoryMb: Number(properties.MemorySize ?? 128),
      environment: Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, resolver.text(value)])),
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
