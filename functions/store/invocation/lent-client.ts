import type { S3Client } from '@aws-sdk/client-s3'
import type { SNSClient } from '@aws-sdk/client-sns'
import type { Invocation } from './invocation.ts'

type Sender = { send(command: unknown, options: { abortSignal: AbortSignal }): Promise<{ Body?: unknown }> }
type Closable = NodeJS.ReadableStream & { destroy(error: Error): void }

const isClosable = (body: unknown): body is Closable =>
  typeof body === 'object' && body !== null && 'destroy' in body && typeof body.destroy === 'function'

/**
 * A client of AWS as one invocation has it. A request ends within `limitMs`, the SDK's own retries included, and within
 * the invocation's time; the body of an answer breaks off when that time is up. What is given up is aborted.
 *
 * @throws a TimeoutError, which store code names, where S3 or SNS needs longer; Failure OutOfTime, InvocationOver
 */
export const lendClient = <Client extends S3Client | SNSClient>(
  client: Client,
  service: 'S3' | 'SNS',
  invocation: Invocation,
  limitMs: number,
): Client => {
  const late = () =>
    Object.assign(new Error(`${service} did not answer within ${limitMs / 1_000} s`), { name: 'TimeoutError' })
  const send = async (command: unknown): Promise<unknown> => {
    const call = new AbortController()
    const ask = () => (client as unknown as Sender).send(command, { abortSignal: call.signal })
    try {
      const answer = await invocation.within(service, ask, limitMs, late)
      const { Body } = answer
      if (isClosable(Body)) {
        // Nobody may be reading it when it is broken off.
        Body.on('error', () => undefined)
        const forget = invocation.onStop(service, (refusal) => Body.destroy(refusal))
        Body.once('close', forget)
      }
      return answer
    } catch (error) {
      call.abort()
      throw error
    }
  }
  return Object.create(client, { send: { value: send } })
}
