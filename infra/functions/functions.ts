import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Architecture, Code, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { operatorFunctionName } from '../../functions/contract/operations.ts'
import {
  type FunctionName,
  handlerFile,
  SUPPORT,
  type SupportName,
  TASK_NAMES,
  TASKS,
  type TaskName,
  type TaskSpec,
} from '../../functions/contract/tasks.ts'
import type { StageConfig } from '../config/config.ts'
import { SUPPORT_SANDBOXES, sandboxesMax } from '../config/connections.ts'
import type { Stores } from '../data/stores.ts'
import type { TaskFunctions } from '../machine/tasks.ts'
import type { OperatorName } from '../operators/policy.ts'
import { SMOKE_DISTRIBUTOR } from '../operators/smoke-role.ts'
import type { Bundles } from './bundles.ts'

export type FunctionsProps = {
  readonly config: StageConfig
  readonly bundles: Bundles
  readonly stores: Stores
}

/** The Lambda functions: each under its task's name, with a role of its own and only what its spec names. */
export class Functions extends Construct {
  readonly byTask: TaskFunctions
  readonly planMonth: LambdaFunction
  readonly sweep: LambdaFunction
  /** Called by operators through Lambda's API, which reaches a function in isolated subnets like any other. */
  readonly operators: Readonly<Record<OperatorName, LambdaFunction>>
  /** Absent where nothing is deployed. */
  readonly migrate: LambdaFunction | undefined
  private readonly props: FunctionsProps

  constructor(scope: Construct, id: string, props: FunctionsProps) {
    super(scope, id)
    this.props = props
    const { stores, config } = props
    const made = TASK_NAMES.map((task) => [task, this.create(task, TASKS[task], sandboxesMax(task, config))] as const)
    this.byTask = Object.fromEntries(made) as Record<TaskName, LambdaFunction>
    const support = (name: SupportName) => this.create(name, SUPPORT[name], SUPPORT_SANDBOXES[name])
    this.planMonth = support('PlanMonth')
    this.sweep = support('Sweep')
    this.operators = { Inspect: support('Inspect'), Operate: support('Operate') }
    this.migrate = stores.deployed === undefined ? undefined : this.createMigrator(stores.deployed)
  }

  /** Every function there is, by name. */
  get all(): [FunctionName, LambdaFunction][] {
    const { planMonth, sweep, operators, migrate } = this
    const support: [FunctionName, LambdaFunction | undefined][] = [
      ['PlanMonth', planMonth],
      ['Sweep', sweep],
      ['Inspect', operators.Inspect],
      ['Operate', operators.Operate],
      ['Migrate', migrate],
    ]
    return [
      ...(Object.entries(this.byTask) as [FunctionName, LambdaFunction][]),
      ...support.flatMap(([name, fn]): [FunctionName, LambdaFunction][] => (fn === undefined ? [] : [[name, fn]])),
    ]
  }

  private create(name: FunctionName, spec: TaskSpec, sandboxes: number): LambdaFunction {
    const { stores, config } = this.props
    const fn = this.createFunction(name, spec, sandboxes, {
      ...stores.environment,
      STAGE: config.stage,
      BUCKET: stores.bucket.bucketName,
      ...(spec.topic ? { TOPIC_ARN: stores.topic.topicArn } : {}),
    })
    grant(fn, spec, stores)
    return fn
  }

  /** The migrator logs in as the master, so it is told where the secret is and gets no token of the functions' user. */
  private createMigrator({
    masterSecret,
    databaseResourceId,
    readerUser,
  }: NonNullable<Stores['deployed']>): LambdaFunction {
    const { config } = this.props
    const smokeFrom = config.kind === 'aws' ? config.smokeFrom : undefined
    const database = Object.entries(this.props.stores.environment).filter(([key]) =>
      /^(DATABASE_(HOST|PORT|NAME|USER)|AWS_ENDPOINT_URL_SECRETS_MANAGER)$/.test(key),
    )
    const fn = this.createFunction('Migrate', SUPPORT.Migrate, SUPPORT_SANDBOXES.Migrate, {
      ...Object.fromEntries(database),
      MASTER_SECRET_ARN: masterSecret.secretArn,
      DATABASE_RESOURCE_ID: databaseResourceId,
      READER_USER: readerUser,
      ...(smokeFrom === undefined ? {} : { SMOKE_DISTRIBUTOR }),
    })
    masterSecret.grantRead(fn)
    return fn
  }

  private createFunction(name: FunctionName, spec: TaskSpec, sandboxes: number, environment: Record<string, string>) {
    const { config, bundles, stores } = this.props
    const folder = bundles.get(handlerFile(name))
    if (folder === undefined) throw new Error(`There is no bundle of ${handlerFile(name)} for the function ${name}`)
    return new LambdaFunction(this, name, {
      ...(isOperators(name) ? { functionName: operatorFunctionName(config.stage, name) } : {}),
      description: `Sharelock ${config.stage}: ${name}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: Code.fromAsset(folder),
      memorySize: name === 'StageSource' ? config.sourceMemoryMb : spec.memoryMb,
      timeout: Duration.seconds(spec.lambdaTimeoutS),
      tracing: config.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      environment,
      ...(config.kind === 'aws' && config.reservedConcurrency ? { reservedConcurrentExecutions: sandboxes } : {}),
      // A definition names a version: a running execution needs its version after the deployment that replaced it. Those of
      // a deployment that was rolled back go: Lambda makes no second version of the same code, so it could not be repeated.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
      logGroup: new LogGroup(this, `${name}Log`, {
        retention: config.logRetentionDays,
        removalPolicy: RemovalPolicy.DESTROY,
      }),
      // A task without a store stays outside the VPC: it needs no address there and starts without an interface.
      ...(spec.database || spec.lock ? stores.network : {}),
    })
  }
}

/** These have names of their own: an operator's client knows the stage and nothing else. */
const isOperators = (name: FunctionName): name is OperatorName => name === 'Inspect' || name === 'Operate'

/** The names under one prefix, and no others. */
const listing = ({ bucketArn }: Stores['bucket'], prefix: string): PolicyStatement =>
  new PolicyStatement({
    actions: ['s3:ListBucket'],
    resources: [bucketArn],
    conditions: { StringLike: { 's3:prefix': prefix } },
  })

const grant = (fn: LambdaFunction, spec: TaskSpec, stores: Stores): void => {
  const { bucket } = stores
  if (spec.database) stores.grantDatabase(fn)
  if (spec.lock) stores.grantLock(fn)
  if (spec.topic) stores.topic.grantPublish(fn)
  if (spec.storage === 'list') fn.addToRolePolicy(listing(bucket, 'incoming/*'))
  // A missing manifest is seen by its name, so the 403 that reading it would answer is never met.
  if (spec.storage === 'check') {
    fn.addToRolePolicy(listing(bucket, 'staged/*'))
    fn.addToRolePolicy(
      new PolicyStatement({ actions: ['s3:GetObject'], resources: [bucket.arnForObjects('staged/*/manifest.json')] }),
    )
  }
  // The grants include s3:ListBucket: without it a missing object reads as 403 and not as 404.
  if (spec.storage === 'read' || spec.storage === 'stage') bucket.grantRead(fn, 'staged/*')
  if (spec.storage === 'stage') {
    bucket.grantRead(fn, 'incoming/*')
    bucket.grantPut(fn, 'staged/*')
    bucket.grantPut(fn, 'rejected/*')
  }
}
