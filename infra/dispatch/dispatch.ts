import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import type { IFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import {
  Choice,
  Condition,
  DefinitionBody,
  Errors,
  Fail,
  IntegrationPattern,
  type IStateMachine,
  JsonPath,
  LogLevel,
  Map as MapState,
  Pass,
  Result,
  StateMachine,
  StateMachineType,
  Succeed,
  TaskInput,
  Timeout,
} from 'aws-cdk-lib/aws-stepfunctions'
import { LambdaInvoke, SnsPublish, StepFunctionsStartExecution } from 'aws-cdk-lib/aws-stepfunctions-tasks'
import { Construct } from 'constructs'
import { DISPATCHER } from '../../functions/contract/dispatched.ts'
import { EXECUTION_TIMEOUT_S, TASK_MARGIN_S } from '../../functions/contract/limits.ts'
import { SUPPORT } from '../../functions/contract/tasks.ts'
import type { StageConfig } from '../config/config.ts'
import { dispatchLanes } from '../config/connections.ts'
import { toRetryProps } from '../machine/retries.ts'
import { PLANNING, START_OUTAGE } from './retries.ts'

export type DispatchProps = {
  readonly config: StageConfig
  readonly planMonth: LambdaFunction
  readonly jobMachine: IStateMachine
  readonly notices: ITopic
}

/** How one distributor's start ended; the Map's output is a list of these, in the order of `month.starts`. */
const OUTCOMES = {
  registered: 'registered',
  ended: 'ended without success',
  already: 'already started',
  not: 'not started',
} as const

/** A month takes minutes per job and lane, and hours where slices are held; a week is an end, not a plan. */
const DISPATCH_TIMEOUT_S = 7 * 86_400

/** The error of a job that was awaited and did not succeed; every other one is of the start itself. */
const ENDED_BADLY = 'States.TaskFailed'

/** Publishing answers in milliseconds. */
const CALL_TIMEOUT = Timeout.duration(Duration.seconds(60))

/**
 * Starts the month: PlanMonth -> StartJobs (a Map, one execution per distributor) -> Tally -> ReportMissing ->
 * Dispatched, or Incomplete where an execution could not be started.
 *
 * A duplicate delivery of the schedule runs all of it again and starts nothing twice: what runs or is REGISTERED is not
 * in the plan, the executions' names are made of what was found, and Step Functions refuses a name it has seen.
 *
 * Each lane of the Map waits for its job's end before it starts the next: so never more jobs run than the stage is sized
 * for, and the rest of the month queues in the plan. A job's own machine, alarms and events tell how it ended; here it
 * only frees the lane. See decisions.md, "The dispatch awaits its jobs".
 */
export class Dispatch extends Construct {
  readonly stateMachine: StateMachine

  constructor(scope: Construct, id: string, props: DispatchProps) {
    super(scope, id)
    const { config, planMonth } = props
    const dispatched = new Succeed(this, 'Dispatched')
    const incomplete = new Fail(this, 'Incomplete', {
      error: 'NotAllStarted',
      cause: 'Some executions could not be started: see "outcomes" beside "month.starts". Start this machine again.',
    })
    const routeOutcome = new Choice(this, 'RouteOutcome')
      .when(Condition.booleanEquals('$.tally.incomplete', true), incomplete)
      .otherwise(dispatched)
    const reportMissing = this.reportMissing(props).addCatch(routeOutcome, {
      errors: [Errors.ALL],
      // Reported by the alarm on month.missing all the same.
      resultPath: '$.report',
    })
    reportMissing.next(routeOutcome)
    const routeMissing = new Choice(this, 'RouteMissing')
      .when(
        Condition.or(
          Condition.numberGreaterThan('$.month.missingCount', 0),
          Condition.numberGreaterThan('$.month.leftCount', 0),
          Condition.numberGreaterThan('$.month.warnedCount', 0),
        ),
        reportMissing,
      )
      .otherwise(routeOutcome)
    const tally = Pass.jsonPath(this, 'Tally', {
      parameters: { incomplete: JsonPath.arrayContains(JsonPath.listAt('$.outcomes') as never, OUTCOMES.not) },
      resultPath: '$.tally',
    })
    const start = this.planMonth(props).next(this.startJobs(props)).next(tally).next(routeMissing)

    this.stateMachine = new StateMachine(this, 'StateMachine', {
      stateMachineType: StateMachineType.STANDARD,
      definitionBody: DefinitionBody.fromChainable(start),
      timeout: Duration.seconds(DISPATCH_TIMEOUT_S),
      tracingEnabled: config.tracing,
      logs: {
        destination: new LogGroup(this, 'Log', {
          logGroupName: `/aws/vendedlogs/states/sharelock-${config.stage}-dispatch`,
          retention: config.logRetentionDays,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
        includeExecutionData: false,
        level: LogLevel.ALL,
      },
    })
    planMonth.grantInvoke(this.stateMachine)
    // The topic's key as well: the task's own grant leaves it out.
    props.notices.grantPublish(this.stateMachine)
  }

  /** Not caught: without a plan nothing was started, and the execution is red. */
  private planMonth({ planMonth, config }: DispatchProps): LambdaInvoke {
    const task = LambdaInvoke.jsonPath(this, 'PlanMonth', {
      lambdaFunction: planMonth.currentVersion as IFunction,
      payloadResponseOnly: true,
      retryOnServiceExceptions: false,
      taskTimeout: Timeout.duration(Duration.seconds(SUPPORT.PlanMonth.lambdaTimeoutS + TASK_MARGIN_S)),
      payload: TaskInput.fromObject({ request: JsonPath.objectAt('$'), monthsBack: config.monthsBack }),
      resultPath: '$.month',
    })
    task.addRetry(toRetryProps(PLANNING))
    return task
  }

  private startJobs({ config, jobMachine }: DispatchProps): MapState {
    const outcome = (name: string, text: string) => Pass.jsonPath(this, name, { result: Result.fromString(text) })
    const startJob = StepFunctionsStartExecution.jsonPath(this, 'StartJob', {
      stateMachine: jobMachine,
      integrationPattern: IntegrationPattern.RUN_JOB,
      taskTimeout: Timeout.duration(Duration.seconds(EXECUTION_TIMEOUT_S + TASK_MARGIN_S)),
      // Made of the slice, the file's delivery and the newest job's fence: a second dispatch of the same means the
      // same.
      name: JsonPath.format(
        '{}-{}-{}',
        JsonPath.stringAt('$.start.distributor'),
        JsonPath.stringAt('$.month'),
        JsonPath.stringAt('$.start.run'),
      ),
      input: TaskInput.fromObject({
        distributor: JsonPath.stringAt('$.start.distributor'),
        month: JsonPath.stringAt('$.month'),
        source: {
          key: JsonPath.format(
            'incoming/{}/{}.{}',
            JsonPath.stringAt('$.start.distributor'),
            JsonPath.stringAt('$.month'),
            JsonPath.stringAt('$.start.ending'),
          ),
        },
        onHeld: 'wait',
        requestedBy: DISPATCHER,
        // Somebody's job that comes between the plan and the run wins: the run is refused as PlanMoved.
        expect: { head: JsonPath.objectAt('$.start.head') },
      }),
      resultPath: JsonPath.DISCARD,
    })
    const routeEnd = new Choice(this, 'RouteEnd')
      .when(Condition.stringEquals('$.end.Error', ENDED_BADLY), outcome('EndedBadly', OUTCOMES.ended))
      // One distributor's trouble is not the others': they start, and the end of this execution is red.
      .otherwise(outcome('NotStarted', OUTCOMES.not))
    startJob
      .addRetry(toRetryProps(START_OUTAGE))
      .addCatch(outcome('AlreadyStarted', OUTCOMES.already), {
        errors: ['StepFunctions.ExecutionAlreadyExistsException'],
      })
      // Told apart by the very name: in a Catch, States.TaskFailed stands for every error.
      .addCatch(routeEnd, { errors: [Errors.ALL], resultPath: '$.end' })
    const map = MapState.jsonPath(this, 'StartJobs', {
      itemsPath: '$.month.starts',
      maxConcurrency: dispatchLanes(config),
      itemSelector: { month: JsonPath.stringAt('$.month.month'), start: JsonPath.objectAt('$$.Map.Item.Value') },
      resultPath: '$.outcomes',
    })
    map.itemProcessor(startJob.next(outcome('Registered', OUTCOMES.registered)))
    return map
  }

  private reportMissing({ notices, config }: DispatchProps): SnsPublish {
    return SnsPublish.jsonPath(this, 'ReportMissing', {
      topic: notices,
      subject: `Sharelock ${config.stage}: distributors that were not started`,
      message: TaskInput.fromObject({
        month: JsonPath.stringAt('$.month.month'),
        missing: JsonPath.objectAt('$.month.missing'),
        left: JsonPath.objectAt('$.month.left'),
        warned: JsonPath.objectAt('$.month.warned'),
        todo: 'missing: ask for the file, upload it, and dispatch the month again. left: somebody has a job of the month, and whether the file is to replace it, a person decides. warned: the file was refused for warnings; look at it, and start it with the command to confirm them. See docs/runbook.md, month-missing.',
      }),
      taskTimeout: CALL_TIMEOUT,
      resultPath: '$.report',
    })
  }
}
