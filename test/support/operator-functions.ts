import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { type InspectRequest, type OperateRequest, operatorFunctionName } from '../../functions/contract/operations.ts'
import type { InspectReply, OperateReply } from '../../functions/contract/replies.ts'
import type { TestStack } from './test-stack.ts'

/** What a function answered in place of a reply, under the name that operators know it by. */
class Refused extends Error {
  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}

/** Inspect and Operate through Lambda's API, as any client would call them with the stack's printed environment. */
export const operatorFunctions = (on: TestStack) => {
  const { AWS_REGION: region = '', AWS_ENDPOINT_URL_LAMBDA: endpoint = '' } = on.stack.environment
  const client = new LambdaClient({ region, endpoint, credentials: { accessKeyId: 'kim', secretAccessKey: 'kim' } })
  const call = async (name: 'Inspect' | 'Operate', input: object): Promise<unknown> => {
    const { Payload, FunctionError } = await client.send(
      new InvokeCommand({ FunctionName: operatorFunctionName('local', name), Payload: JSON.stringify(input) }),
    )
    on.told.push({ where: `${name} ${JSON.stringify(input)}`, text: Payload?.transformToString() ?? '' })
    const answer = JSON.parse(Payload?.transformToString() ?? 'null')
    if (FunctionError === undefined) return answer
    throw new Refused(answer.errorType, answer.errorMessage)
  }
  return {
    ask: async <Question extends InspectRequest['question']>(
      question: Extract<InspectRequest, { question: Question }>,
    ) => (await call('Inspect', question)) as InspectReply[Question],
    act: async <Action extends OperateRequest['action']>(action: Extract<OperateRequest, { action: Action }>) =>
      (await call('Operate', action)) as OperateReply[Action],
    close: () => client.destroy(),
  }
}

export const KIM = { caller: 'arn:aws:iam::000000000000:user/kim', why: 'a wrong file' }
