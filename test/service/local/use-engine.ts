import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import { afterEach, beforeEach } from 'vitest'
import type { Definition } from '../../../local/engine/definition.ts'
import { startEndpoint } from '../../../local/engine/endpoint.ts'
import { Engine } from '../../../local/engine/engine.ts'
import type { Endpoint } from '../../../local/host/http-server.ts'
import type { Outcome } from '../../../local/lambda/function.ts'

type Work = (event: Record<string, unknown>) => Promise<unknown> | unknown

/** The engine behind its endpoint, asked by the real SDK: a new one for each test. */
class EngineUnderTest {
  engine!: Engine
  sfn!: SFNClient
  /** Its functions, by name. `Echo` is always there. */
  readonly functions: Record<string, Work> = {}
  readonly calls: { readonly name: string; readonly event: Record<string, unknown> }[] = []
  #endpoint!: Endpoint

  async open(): Promise<void> {
    for (const name of Object.keys(this.functions)) delete this.functions[name]
    this.functions.Echo = (event) => event
    this.calls.length = 0
    this.engine = new Engine({ invoke: this.#invoke, publish: async () => 'id' })
    this.#endpoint = await startEndpoint(this.engine)
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
    this.sfn = new SFNClient({
      region: 'ap-northeast-2',
      endpoint: this.#endpoint.url,
      credentials,
      maxAttempts: 1,
    })
  }

  async close(): Promise<void> {
    this.engine.close()
    this.sfn.destroy()
    await this.#endpoint.close()
  }

  readonly #invoke = async (name: string, text: string): Promise<Outcome> => {
    const event = JSON.parse(text) as Record<string, unknown>
    this.calls.push({ name, event })
    try {
      return { payload: JSON.stringify((await this.functions[name]?.(event)) ?? null) }
    } catch (error) {
      const { name: errorType, message: errorMessage } = error as Error
      return { error: { errorType, errorMessage, trace: [] } }
    }
  }

  /** Hosts a machine of these states; gives its ARN. */
  readonly host = (states: object, startAt = Object.keys(states)[0], more: object = {}): string => {
    const arn = `arn:aws:states:ap-northeast-2:000000000000:stateMachine:M${Math.random().toString(36).slice(2)}`
    this.engine.host(arn, { StartAt: startAt, States: states, ...more } as Definition)
    return arn
  }

  readonly start = (stateMachineArn: string, input: unknown = {}, name?: string) =>
    this.sfn.send(new StartExecutionCommand({ stateMachineArn, input: JSON.stringify(input), name }))

  /** Waits for an execution's end; gives what the endpoint then says of it. */
  readonly finish = async (executionArn: string | undefined) => {
    await this.engine.execution(executionArn ?? '').ended
    return this.sfn.send(new DescribeExecutionCommand({ executionArn }))
  }

  readonly eventTypes = (executionArn: string | undefined) =>
    this.engine.execution(executionArn ?? '').history.events.map(({ type }) => type)
}

export const useEngine = (): EngineUnderTest => {
  const on = new EngineUnderTest()
  beforeEach(() => on.open())
  afterEach(() => on.close())
  return on
}

export const task = (name: string, more: object = {}) => ({
  Type: 'Task',
  Resource: `arn:aws:lambda:ap-northeast-2:000000000000:function:${name}:1`,
  ...more,
})

export const map = (item: object, more: object = {}) => ({
  Type: 'Map',
  ItemsPath: '$.items',
  MaxConcurrency: 2,
  ItemProcessor: { StartAt: 'Item', States: { Item: item } },
  ...more,
})

export const items = (count: number) => ({ items: Array.from({ length: count }, (_, index) => ({ index })) })

/** An error that a function throws, by its name. */
export const named = (name: string): Error => Object.assign(new Error(`${name} happened`), { name })
