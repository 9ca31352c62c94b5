import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { startEndpoint } from './engine/endpoint.ts'
import { Engine } from './engine/engine.ts'
import type { Pace } from './engine/execution.ts'
import type { StatusEvent } from './engine/status-event.ts'
import { clientEnvironment, functionEnvironment } from './environment.ts'
import { RUNS } from './host/paths.ts'
import { pruneRuns } from './host/prune-runs.ts'
import type { Kept } from './kept/kept.ts'
import { startLambdaEndpoint } from './lambda/endpoint.ts'
import { Lambda } from './lambda/lambda.ts'
import { defaultPrepare } from './prepare.ts'
import { ACCOUNT, type AwsServer, startAws } from './servers/aws.ts'
import type { Environment } from './servers/find.ts'
import type { MysqlOptions } from './servers/mysql.ts'
import { type LocalDatabase, type LockServer, openDatabase, openLockServer } from './servers/stores.ts'
import type { ValkeyOptions } from './servers/valkey.ts'
import { unwatchFolder, watchFolder } from './servers/watchdog-client.ts'
import { type App, readApp } from './template/read.ts'
import { compileCacheOf, synthesise } from './template/synth.ts'

export const REGION = 'ap-northeast-2'

export type StackOptions = {
  /** A folder that `cdk synth` wrote; by default the app is synthesised. */
  readonly app?: string | undefined
  /** Where servers are looked for; by default the process's own environment. */
  readonly env?: Environment
  readonly mysql?: MysqlOptions
  readonly valkey?: ValkeyOptions
  /** Sandboxes of one function at once. */
  readonly concurrency?: number
  /** False: a sandbox past its timeout lives on, abandoned. */
  readonly killOnTimeout?: boolean
  readonly pace?: Pace
  /** More variables for every function. */
  readonly variables?: Readonly<Record<string, string>>
  /** The function that receives the status events of executions that did not succeed; null for none. */
  readonly haltFunction?: string | null
  /** What happens to a status event on its way there; by default it is delivered at once. */
  readonly onStatusEvent?: (event: StatusEvent, deliver: () => void) => void
  /** More options for the Node of each sandbox, asked for as it starts. */
  readonly nodeOptions?: () => readonly string[]
  /** Runs before anything else uses the database; by default the migrations and the functions' user. */
  readonly prepare?: (stack: Pick<Stack, 'database' | 'lock' | 'aws' | 'folder'>) => Promise<unknown>
  /** Data and ports that outlive the stack; by default it has a folder of its own and free ports. */
  readonly kept?: Kept
  /** Keeps the run's folder when the stack stops. */
  readonly keepData?: boolean
  readonly say?: (line: string) => void
}

/** A running local stack. */
export type Stack = {
  /** Of this run: server data, objects, logs. */
  readonly folder: string
  /** `<function>.log` of each function. */
  readonly logsFolder: string
  readonly database: LocalDatabase
  readonly lock: LockServer
  readonly aws: AwsServer
  readonly lambda: Lambda
  readonly engine: Engine
  /** The Step Functions endpoint, and Lambda's. */
  readonly url: string
  readonly lambdaUrl: string
  /** The job's machine, and every machine of the app by name. */
  readonly machineArn: string
  readonly machineArns: Readonly<Record<string, string>>
  /** What an AWS client, the operator's command or a test sets to talk to this stack. */
  readonly environment: Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

const HALT_FUNCTION = 'HaltJob'
const FAILED: readonly string[] = ['FAILED', 'ABORTED', 'TIMED_OUT']

/** Starts everything; what was started is stopped again when a part of it does not start. */
export const startStack = async (options: StackOptions = {}): Promise<Stack> => {
  const say = options.say ?? (() => undefined)
  const id = `${Date.now().toString(36)}-${process.pid}-${Math.random().toString(36).slice(2, 6)}`
  const folder = options.kept?.folder ?? join(RUNS, id)
  const stops: (() => Promise<void>)[] = []
  const stop = async (): Promise<void> => {
    for (const one of stops.splice(0).reverse()) await one()
  }
  try {
    await pruneRuns()
    await mkdir(folder, { recursive: true })
    if (options.keepData !== true && options.kept === undefined) {
      watchFolder(folder)
      stops.push(async () => {
        await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
        unwatchFolder(folder)
      })
    }
    const stores = await startStores(options, folder, id, say, stops)
    await (options.prepare ?? defaultPrepare)({ ...stores, folder })
    return { ...stores, folder, ...(await startCompute(options, folder, stores, stops)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type Stores = Pick<Stack, 'database' | 'lock' | 'aws'> & { readonly app: App & { readonly compileCache?: string } }
type Stops = (() => Promise<void>)[]

/** Servers and synthesis, side by side: each waits for processes most of the time. */
const startStores = async (
  options: StackOptions,
  folder: string,
  id: string,
  say: (line: string) => void,
  stops: Stops,
): Promise<Stores> => {
  const { env = process.env, kept } = options
  const { ports } = kept ?? {}
  const stopping = <Server extends { stop: () => Promise<void> }>(server: Server): Server => {
    stops.push(() => server.stop())
    return server
  }
  const names = {
    bucket: 'sharelock-local',
    topic: 'sharelock-local',
    queue: 'sharelock-local-events',
    // For people: nobody of the local stack listens, and no consumer of events may meet them.
    notices: 'sharelock-local-notices',
  }
  const started = await Promise.allSettled([
    openDatabase(
      env,
      join(folder, 'mysql'),
      kept === undefined ? id : 'kept',
      { ...options.mysql, ...(ports && { port: ports.mysql }) },
      say,
      kept,
    ).then(stopping),
    openLockServer(env, join(folder, 'valkey'), { ...options.valkey, ...(ports && { port: ports.valkey }) }, say).then(
      stopping,
    ),
    startAws(join(folder, 'aws'), REGION, names, ports?.aws).then(stopping),
    loadApp(options.app, say),
  ])
  // All have started or failed by now, so a failure leaves no server behind that nobody knows.
  for (const result of started) if (result.status === 'rejected') throw result.reason
  const [database, lock, aws, app] = started.map((result) => (result as PromiseFulfilledResult<unknown>).value)
  return {
    database: database as LocalDatabase,
    lock: lock as LockServer,
    aws: aws as AwsServer,
    app: app as Stores['app'],
  }
}

const loadApp = async (given: string | undefined, say: (line: string) => void): Promise<Stores['app']> => {
  const place = { region: REGION, account: ACCOUNT }
  if (given !== undefined) return readApp(given, place)
  const folder = await synthesise(say)
  return { ...readApp(folder, place), compileCache: compileCacheOf(folder) }
}

const startCompute = async (options: StackOptions, folder: string, stores: Stores, stops: Stops) => {
  const { database, lock, aws, app } = stores
  const logsFolder = join(folder, 'logs')
  const { concurrency, killOnTimeout, nodeOptions } = options
  const lambda = new Lambda({
    logsFolder,
    region: REGION,
    compileCache: app.compileCache,
    concurrency,
    killOnTimeout,
    nodeOptions,
  })
  for (const fn of app.functions)
    lambda.add({ ...fn, environment: functionEnvironment(fn.environment, { database, lock, aws }, options.variables) })
  stops.push(() => lambda.end())

  const sns = new SNSClient({ region: REGION, endpoint: aws.endpoint, credentials: LOCAL_CREDENTIALS })
  const engine = new Engine({
    invoke: (name, event) => lambda.invoke(name, event),
    publish: async (TopicArn, Message) => (await sns.send(new PublishCommand({ TopicArn, Message }))).MessageId ?? '',
  })
  engine.pace = options.pace ?? {}
  for (const machine of app.machines) engine.host(machine.arn, machine.definition)
  // The rule of the deployed stack: what ended without its Catch is halted all the same.
  const haltFunction = options.haltFunction === undefined ? HALT_FUNCTION : options.haltFunction
  if (options.haltFunction && !lambda.functionNames.includes(options.haltFunction))
    throw new Error(`The app has no function ${options.haltFunction}`)
  if (haltFunction !== null && lambda.functionNames.includes(haltFunction))
    engine.onStatusEvent((event) => {
      if (!FAILED.includes(event.detail.status)) return
      const deliver = () => lambda.invokeAsync(haltFunction, JSON.stringify(event))
      if (options.onStatusEvent === undefined) deliver()
      else options.onStatusEvent(event, deliver)
    })

  const endpoint = await startEndpoint(engine, options.kept?.ports.stepFunctions)
  stops.push(async () => {
    engine.close()
    await endpoint.close()
    sns.destroy()
  })
  const lambdaEndpoint = await startLambdaEndpoint(lambda, options.kept?.ports.lambda)
  stops.push(() => lambdaEndpoint.close())
  const machineArns = Object.fromEntries(app.machines.map(({ name, arn }) => [name, arn]))
  const machineArn = (app.machines.find(({ name }) => name.startsWith('Job')) ?? app.machines[0])?.arn ?? ''
  const urls = { url: endpoint.url, lambdaUrl: lambdaEndpoint.url }
  const environment = clientEnvironment({ database, lock, aws, ...urls, machineArn })
  return { logsFolder, lambda, engine, ...urls, machineArn, machineArns, environment }
}

const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' }
