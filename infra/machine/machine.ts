import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { DefinitionBody, LogLevel, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions'
import { Construct } from 'constructs'
import { EXECUTION_TIMEOUT_S } from '../../functions/contract/limits.ts'
import type { StageConfig } from '../config/config.ts'
import { Opening } from './opening.ts'
import { Outcomes } from './outcomes.ts'
import { Replacing } from './replacing.ts'
import type { TaskFunctions } from './tasks.ts'

export type JobMachineProps = {
  readonly config: StageConfig
  readonly functions: TaskFunctions
}

/**
 * The state machine of a job: one execution replaces one slice. Plain JSONPath and inline Maps only, so the same
 * definition also runs in the local engine. A Standard workflow: its executions last hours and are unique by name.
 */
export class JobMachine extends Construct {
  readonly stateMachine: StateMachine

  constructor(scope: Construct, id: string, { config, functions }: JobMachineProps) {
    super(scope, id)
    const outcomes = new Outcomes(this, 'Outcomes', functions)
    const opening = new Opening(this, 'Opening', functions, outcomes)
    const replacing = new Replacing(this, 'Replacing', { functions, lanes: config.lanes, outcomes, opening })
    opening.openJob.next(replacing.routeByState)

    this.stateMachine = new StateMachine(this, 'StateMachine', {
      stateMachineType: StateMachineType.STANDARD,
      definitionBody: DefinitionBody.fromChainable(opening.start),
      timeout: Duration.seconds(EXECUTION_TIMEOUT_S),
      tracingEnabled: config.tracing,
      logs: {
        // Under this prefix, delivery needs no entry of its own in the account's log resource policy, whose size is limited.
        destination: new LogGroup(this, 'Log', {
          logGroupName: `/aws/vendedlogs/states/sharelock-${config.stage}`,
          retention: config.logRetentionDays,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
        // Names and outcomes only: a request's data stay in the execution's own history.
        includeExecutionData: false,
        level: LogLevel.ALL,
      },
    })

    // Any version, not only the current one: an execution that began before a deployment still calls the older one.
    for (const fn of Object.values(functions)) fn.grantInvoke(this.stateMachine)
  }
}
