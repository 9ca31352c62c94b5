import { flushCompileCache } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { FunctionError, Invocation, Outcome, SandboxMessage } from './function.ts'

/**
 * What runs inside a sandbox: imports the bundle once, then serves one invocation after the other.
 * Started by sandbox.ts with the handler's file and export name as arguments, and as environment what the function has.
 */
const [file, exportName] = process.argv.slice(2)

type Handler = (event: unknown, context: unknown) => unknown

/** The platform's clock, ms since 1970: a function whose own clock is off has as much time as any other. */
const platformNow = (): number => performance.timeOrigin + performance.now()

const errorOf = (thrown: unknown): FunctionError => {
  if (!(thrown instanceof Error)) return { errorType: 'Error', errorMessage: String(thrown), trace: [] }
  return { errorType: thrown.name, errorMessage: thrown.message, trace: thrown.stack?.split('\n') ?? [] }
}

/** Lambda's runtime logs the error of an invocation with everything that hangs on it. */
const logged = (thrown: unknown): string =>
  JSON.stringify(thrown, (_, value: unknown) =>
    value instanceof Error
      ? { ...value, errorType: value.name, errorMessage: value.message, stack: value.stack?.split('\n') }
      : value,
  )

const send = (message: SandboxMessage, then?: () => void): void => {
  process.send?.(message, undefined, undefined, then)
}

const contextOf = (invocation: Invocation) => ({
  awsRequestId: invocation.requestId,
  functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
  functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
  invokedFunctionArn: process.env.SHARELOCK_LOCAL_FUNCTION_ARN,
  memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
  logGroupName: `/aws/lambda/${process.env.AWS_LAMBDA_FUNCTION_NAME}`,
  logStreamName: String(process.pid),
  callbackWaitsForEmptyEventLoop: true,
  getRemainingTimeInMillis: () => Math.max(0, invocation.deadlineMs - platformNow()),
})

const serve = async (handler: Handler, invocation: Invocation): Promise<Outcome> => {
  try {
    const result = await handler(JSON.parse(invocation.event), contextOf(invocation))
    return { payload: JSON.stringify(result) ?? 'null' }
  } catch (error) {
    console.error(`${new Date().toISOString()}\t${invocation.requestId}\tERROR\tInvoke Error\t${logged(error)}`)
    return { error: errorOf(error) }
  }
}

// The parent is gone: nobody waits for an answer, and nobody else would end this process.
process.on('disconnect', () => process.exit())
// Ctrl-C reaches the whole terminal group. The parent decides when a sandbox ends.
process.on('SIGINT', () => undefined)

try {
  const bundle = (await import(pathToFileURL(file ?? '').href)) as Record<string, unknown>
  const handler = bundle[exportName ?? '']
  if (typeof handler !== 'function') throw new Error(`${file} exports no function ${exportName}`)
  process.on('message', (invocation: Invocation) => {
    void serve(handler as Handler, invocation).then((outcome) =>
      send({ type: 'answer', requestId: invocation.requestId, outcome }),
    )
  })
  send({ type: 'ready' })
  // Written at exit otherwise, and a sandbox ends by SIGKILL.
  flushCompileCache()
} catch (error) {
  send({ type: 'initError', error: errorOf(error) }, () => process.exit(1))
}
