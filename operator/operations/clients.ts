import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { S3Client } from '@aws-sdk/client-s3'
import { SFNClient } from '@aws-sdk/client-sfn'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { type InspectRequest, type OperateRequest, operatorFunctionName } from '../../functions/contract/operations.ts'
import type { InspectReply, OperateReply } from '../../functions/contract/replies.ts'
import type { Deployment } from '../../functions/contract/reports.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import { calling, ofFailure } from './failures.ts'
import { ANSWER_TIMEOUT_MS, CALL_ATTEMPTS_MAX, CONNECT_TIMEOUT_MS } from './limits.ts'
import { OperationError } from './operation-error.ts'

const ignore = (): void => undefined

/** A sandbox that was lost, or killed while it started. One that came to its timeout would only do so again. */
const DIED: readonly string[] = ['Runtime.ExitError', 'Lambda.Unknown']

const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore }

/** What the operations talk to. */
export type Clients = {
  readonly sfn: SFNClient
  readonly s3: S3Client
  /** The caller as AWS names it; asked for once. */
  readonly identity: () => Promise<string>
  /** State machine and bucket of the stage; asked for once. */
  readonly deployment: () => Promise<Deployment>
  readonly inspect: <Question extends InspectRequest>(question: Question) => Promise<InspectReply[Question['question']]>
  readonly operate: <Action extends OperateRequest>(action: Action) => Promise<OperateReply[Action['action']]>
}

/** Keeps the first answer; a failure is not kept, so that the next one asks again. */
const once = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let kept: Promise<T> | undefined
  return () => {
    kept ??= ask().catch((error: unknown) => {
      kept = undefined
      throw error
    })
    return kept
  }
}

/** Region, credentials, profile and endpoints are the SDK's own business: its standard variables and files decide. */
export const createClients = (stage: string): Clients => {
  const requestHandler = { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: ANSWER_TIMEOUT_MS }
  const common = { maxAttempts: CALL_ATTEMPTS_MAX, requestHandler }
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env
  const lambda = new LambdaClient(common)
  const sts = new STSClient(common)
  const inspect: Clients['inspect'] = async (question) =>
    (await invoke(lambda, operatorFunctionName(stage, 'Inspect'), question, true)) as never
  return {
    sfn: new SFNClient(common),
    // A local server has no host name per bucket.
    // Its own remarks about a request that failed are not for the operator, who is told by us.
    s3: new S3Client({
      ...common,
      logger: SILENT,
      forcePathStyle: (AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL) !== undefined,
    }),
    identity: once(async () => {
      const { Arn } = await calling('AWS STS', () => sts.send(new GetCallerIdentityCommand({})))
      return Arn ?? 'unknown'
    }),
    deployment: once(() => inspect({ question: 'deployment' })),
    inspect,
    // A second run of every other action (a profile that says the same is no new version) finds what the first one did, or writes its line of the audit trail again.
    operate: async (action) =>
      (await invoke(
        lambda,
        operatorFunctionName(stage, 'Operate'),
        action,
        action.action !== 'put-distributor',
      )) as never,
  }
}

/** The slice that a request names, if it names one. */
const sliceOf = (request: object): SliceName | undefined => {
  const { distributor, month } = request as Partial<Record<keyof SliceName, unknown>>
  return typeof distributor === 'string' && typeof month === 'string' ? { distributor, month } : undefined
}

/**
 * @param mayRepeat whether a function that died on the way is called once more: how far it came is not known
 * @returns the function's answer
 * @throws OperationError with the function's own sentence where it failed
 */
const invoke = async (lambda: LambdaClient, name: string, request: object, mayRepeat: boolean): Promise<unknown> => {
  for (let call = 1; ; call++) {
    const { FunctionError, Payload } = await send(lambda, name, request)
    const answer: unknown = JSON.parse(Buffer.from(Payload ?? []).toString() || 'null')
    if (FunctionError === undefined) return answer
    const { errorType = FunctionError, errorMessage = '' } = answer as { errorType?: string; errorMessage?: string }
    if (!DIED.includes(errorType)) throw ofFailure(errorType, errorMessage, sliceOf(request))
    if (mayRepeat && call < CALL_ATTEMPTS_MAX) continue
    const advice = mayRepeat ? 'Try again.' : 'Whether it did its work is not known: look before you try again.'
    throw new OperationError('Unreachable', `The function ${name} died: ${errorMessage}. ${advice}`)
  }
}

const send = (lambda: LambdaClient, name: string, request: object) =>
  calling(`The function ${name}`, async () => {
    try {
      return await lambda.send(new InvokeCommand({ FunctionName: name, Payload: Buffer.from(JSON.stringify(request)) }))
    } catch (error) {
      if ((error as Error).name !== 'ResourceNotFoundException') throw error
      const message = `There is no function ${name} in this account and region. Is the stage right (--stage, SHARELOCK_STAGE)? And AWS_PROFILE, AWS_REGION?`
      throw new OperationError('NotFound', message, error)
    }
  })
