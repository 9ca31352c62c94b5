import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LambdaFunction } from '../../../local/lambda/function.ts'

/**
 * Small apps for the tests of the local stack: what `cdk synth` writes, with handlers of a few lines, so that these tests
 * depend on the local stack alone.
 */
export type Handlers = Readonly<
  Record<string, { readonly code: string; readonly timeoutS?: number; readonly memoryMb?: number }>
>

/** A handler that does what its event says; `invocations` counts what its sandbox has served. */
export const OBEDIENT = `
let invocations = 0
export const handler = async (event, context) => {
  invocations += 1
  console.log(JSON.stringify({ event, requestId: context.awsRequestId }))
  if (event.sleepMs) await new Promise((resolve) => setTimeout(resolve, event.sleepMs))
  if (event.spin) for (;;);
  if (event.exit !== undefined) process.exit(event.exit)
  if (event.error) throw Object.assign(new Error('on demand'), { name: event.error })
  if (event.bytes) return 'x'.repeat(event.bytes)
  const { functionName, invokedFunctionArn, memoryLimitInMB } = context
  const remainingMs = context.getRemainingTimeInMillis()
  return { pid: process.pid, invocations, event, functionName, invokedFunctionArn, memoryLimitInMB, remainingMs, variables: process.env }
}
`

const writeBundle = (folder: string, code: string): void => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'index.mjs'), code)
}

/** Cuts the definition at `@<function>@` and puts a reference to that function's version there, as the CDK does. */
const joined = (definition: unknown): unknown => ({
  'Fn::Join': [
    '',
    JSON.stringify(definition)
      .split('@')
      .map((part, index) => (index % 2 === 0 ? part : { Ref: `${part}Version` })),
  ],
})

/** Writes a synthesised app: functions by name, machines by name with `@<function>@` as resources. */
export const writeApp = (handlers: Handlers, machines: Readonly<Record<string, unknown>>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sharelock-app-'))
  const resources: Record<string, unknown> = {}
  for (const [name, { code, timeoutS = 10, memoryMb = 256 }] of Object.entries(handlers)) {
    writeBundle(join(folder, `asset.${name}`), code)
    resources[`Functions${name}0123ABCD`] = {
      Type: 'AWS::Lambda::Function',
      Properties: {
        Code: { S3Bucket: 'assets', S3Key: `${name}.zip` },
        Handler: 'index.handler',
        Timeout: timeoutS,
        MemorySize: memoryMb,
        Environment: { Variables: { STAGE: 'local', BUCKET: { Ref: 'Bucket' }, TOPIC_ARN: { Ref: 'Topic' } } },
      },
    }
    resources[`${name}Version`] = {
      Type: 'AWS::Lambda::Version',
      Properties: { FunctionName: { Ref: `Functions${name}0123ABCD` } },
    }
  }
  for (const [name, definition] of Object.entries(machines))
    resources[`${name}0123ABCD`] = {
      Type: 'AWS::StepFunctions::StateMachine',
      Properties: { DefinitionString: joined(definition) },
    }
  writeFileSync(join(folder, 'Test.template.json'), JSON.stringify({ Resources: resources }))
  return folder
}

/** One function without an app around it. */
export const writeFunction = (name: string, code: string, timeoutMs = 10_000, memoryMb = 256): LambdaFunction => {
  const folder = mkdtempSync(join(tmpdir(), 'sharelock-function-'))
  writeBundle(folder, code)
  return {
    name,
    arn: `arn:aws:lambda:ap-northeast-2:000000000000:function:${name}`,
    codeFolder: folder,
    handler: 'index.handler',
    timeoutMs,
    memoryMb,
    environment: { FROM_TEMPLATE: 'yes' },
  }
}

/** Whether the process runs; one that has ended and waits to be noticed by its parent does not. */
export const isRunning = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).charAt(0) !== 'Z'
  } catch {
    return false
  }
}

/** Waits until the condition holds; fails naming it when it takes longer. */
export const until = async (
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 20_000,
): Promise<void> => {
  const deadline = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Not within ${timeoutMs} ms: ${what}`)
    await sleep(20)
  }
}
