import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import type { Bundles } from './bundles.ts'
import type { StageConfig } from './config.ts'
import { JobFunctions } from './functions.ts'
import { JobMachine } from './machine/machine.ts'
import type { Stores } from './stores.ts'

export type JobStackProps = StackProps & {
  readonly config: StageConfig
  readonly bundles: Bundles
  /** The stores, or how to name them from within this stack. */
  readonly stores: (scope: Construct) => Stores
}

/** The stateless half of a stage: functions and state machine. It can be deleted and deployed again without losing data. */
export class JobStack extends Stack {
  constructor(scope: Construct, id: string, { config, bundles, stores, ...props }: JobStackProps) {
    super(scope, id, props)
    const { stage, lanes, tracing, logRetention } = config
    const functions = new JobFunctions(this, 'Functions', {
      stage,
      bundles,
      stores: stores(this),
      tracing,
      logRetention,
    })
    const job = new JobMachine(this, 'Job', { stage, functions: functions.byTask, lanes, tracing, logRetention })
    new CfnOutput(this, 'StateMachineArn', { value: job.stateMachine.stateMachineArn })
  }
}
