import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import type { StageConfig } from '../config/config.ts'
import type { Stores } from '../data/stores.ts'
import { Dispatch } from '../dispatch/dispatch.ts'
import { HaltRule, Schedules } from '../dispatch/triggers.ts'
import type { Bundles } from '../functions/bundles.ts'
import { Functions } from '../functions/functions.ts'
import { addMigration } from '../functions/migration.ts'
import { JobMachine } from '../machine/machine.ts'
import { addOnCallPolicy } from '../operators/on-call-policy.ts'
import { addOperatorPolicies } from '../operators/policy.ts'
import { addSmokeRole, type SmokeOutputs } from '../operators/smoke-role.ts'
import { Watch } from '../watch/watch.ts'

export type JobStackProps = StackProps & {
  readonly config: StageConfig
  readonly bundles: Bundles
  /** The stores, or how to name them from within this stack. */
  readonly stores: (scope: Construct) => Stores
}

/** The stateless half of a stage: it can be deleted and deployed again without losing data. */
export class JobStack extends Stack {
  /** What the smoke job needs to know, where the pipeline may run it. */
  readonly smoke: SmokeOutputs | undefined

  constructor(scope: Construct, id: string, { config, bundles, stores: storesOf, ...props }: JobStackProps) {
    super(scope, id, props)
    const stores = storesOf(this)
    const functions = new Functions(this, 'Functions', { config, bundles, stores })
    const { byTask, planMonth, sweep, operators, migrate } = functions
    const job = new JobMachine(this, 'Job', { config, functions: byTask })
    const dispatch = new Dispatch(this, 'Dispatch', {
      config,
      planMonth,
      jobMachine: job.stateMachine,
      notices: stores.notices,
    })
    const haltRule = new HaltRule(this, 'HaltRule', { jobMachine: job.stateMachine, haltJob: byTask.HaltJob })
    // The machines know their functions, so Inspect is told of the machines once they are there.
    operators.Inspect.addEnvironment('STATE_MACHINE_ARN', job.stateMachine.stateMachineArn)
    operators.Inspect.addEnvironment('DISPATCH_MACHINE_ARN', dispatch.stateMachine.stateMachineArn)
    new CfnOutput(this, 'StateMachineArn', { value: job.stateMachine.stateMachineArn })
    new CfnOutput(this, 'DispatchMachineArn', { value: dispatch.stateMachine.stateMachineArn })
    if (config.kind === 'local' || stores.deployed === undefined) return

    const schedules = new Schedules(this, 'Schedules', { config, dispatchMachine: dispatch.stateMachine, sweep })
    new Watch(this, 'Watch', {
      config,
      deployed: stores.deployed,
      notices: stores.notices,
      jobMachine: job.stateMachine,
      dispatchMachine: dispatch.stateMachine,
      functions,
      haltRule,
      schedules,
    })
    const operatorPolicy = addOperatorPolicies(this, {
      stage: config.stage,
      bucket: stores.bucket,
      machines: [job.stateMachine, dispatch.stateMachine],
      functions: operators,
    })
    addOnCallPolicy(this, {
      stage: config.stage,
      functions: functions.all.map(([, fn]) => fn),
      queues: [schedules.deadLetters, schedules.sweepFailures, haltRule.deadLetters],
    })
    if (config.smokeFrom !== undefined)
      this.smoke = addSmokeRole(this, {
        stage: config.stage,
        pipelineAccount: config.smokeFrom,
        operatorPolicy,
        jobMachine: job.stateMachine,
      })
    if (migrate !== undefined)
      addMigration(this, migrate, [job, dispatch, haltRule, schedules, ...Object.values(operators)])
  }
}
