import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { Architecture, Code, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { handlerFile, TASK_NAMES, TASKS, type TaskName, type TaskSpec } from '../functions/contract/tasks.ts'
import type { Bundles } from './bundles.ts'
import type { TaskFunctions } from './machine/tasks.ts'
import type { Stores } from './stores.ts'

export type JobFunctionsProps = {
  readonly stage: string
  readonly bundles: Bundles
  readonly stores: Stores
  readonly tracing: boolean
  readonly logRetention: RetentionDays
}

/** The Lambda functions of the tasks: each under its task's name, with a role of its own and only what its spec names. */
export class JobFunctions extends Construct {
  readonly byTask: TaskFunctions

  constructor(scope: Construct, id: string, props: JobFunctionsProps) {
    super(scope, id)
    const made = TASK_NAMES.map((task) => [task, this.create(task, TASKS[task], props)] as const)
    this.byTask = Object.fromEntries(made) as Record<TaskName, LambdaFunction>
  }

  private create(task: TaskName, spec: TaskSpec, { stage, bundles, stores, tracing, logRetention }: JobFunctionsProps) {
    const folder = bundles.get(handlerFile(task))
    if (folder === undefined) throw new Error(`There is no bundle of ${handlerFile(task)} for the function ${task}`)
    const fn = new LambdaFunction(this, task, {
      description: `Sharelock ${stage}: ${task}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: Code.fromAsset(folder),
      memorySize: spec.memoryMb,
      timeout: Duration.seconds(spec.lambdaTimeoutS),
      tracing: tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      environment: {
        ...stores.environment,
        STAGE: stage,
        BUCKET: stores.bucket.bucketName,
        ...(spec.topic ? { TOPIC_ARN: stores.topic.topicArn } : {}),
      },
      // A definition names a version: a running execution needs its version after the deployment that replaced it.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN },
      logGroup: new LogGroup(this, `${task}Log`, { retention: logRetention, removalPolicy: RemovalPolicy.DESTROY }),
      // A task without a store stays outside the VPC: it needs no address there and starts without an interface.
      ...(spec.database || spec.lock ? stores.network : {}),
    })
    grant(fn, spec, stores)
    return fn
  }
}

const grant = (fn: LambdaFunction, spec: TaskSpec, stores: Stores): void => {
  if (spec.database) stores.grantDatabase(fn)
  if (spec.lock) stores.grantLock(fn)
  if (spec.topic) stores.topic.grantPublish(fn)
  // The grants include s3:ListBucket: without it a missing object reads as 403 and not as 404.
  if (spec.storage !== 'none') stores.bucket.grantRead(fn, 'staged/*')
  if (spec.storage === 'stage') {
    stores.bucket.grantRead(fn, 'incoming/*')
    stores.bucket.grantPut(fn, 'staged/*')
    stores.bucket.grantPut(fn, 'rejected/*')
  }
}
