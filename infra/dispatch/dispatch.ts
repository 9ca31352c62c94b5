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
  Wait,
  WaitTime,
} from 'aws-cdk-lib/aws-stepfunctions'
import { LambdaInvoke, SnsPublish, StepFunctionsStartExecution } from 'aws-cdk-lib/aws-stepfunctions-tasks'
import { Construct } from 'constructs'
import { DISPATCHER } from '../../functions/contract/dispatched.ts'
import { TASK_MARGIN_S } from '../../functions/contract/limits.ts'
import { SUPPORT } from '../../functions/contract/tasks.ts'
import type { StageConfig } from '../config/config.ts'
import { toRetryProps } from '../machine/retries.ts'
import { PLANNING, START_OUTAGE } from './retries.ts'

export type DispatchProps = {
  readonly config: StageConfig
  readonly planMonth: LambdaFunction
  readonly jobMachine: IStateMachine
  readonly notices: ITopic
}

/** How one distributor's start ended; the Map's output is a list of these, in the order of `month.starts`. */
const OUTCOMES = { started: 'started', already: 'already started', not: 'not started' } as const

/** Starting a month takes seconds per distributor and a pause between; a day is an end, not a plan. */
const DISPATCH_TIMEOUT_S = 86_400

/** Starting an execution and publishing answer in milliseconds. */
const CALL_TIMEOUT = Timeout.duration(Duration.seconds(60))

/**
 * Starts the month: PlanMonth -> StartJobs (a Map, one execution per distributor) -> Tally -> ReportMissing ->
 * Dispatched, or Incomplete where an execution could not be started.
 *
 * A duplicate delivery of the schedule runs all of it again and starts nothing twice: what runs or is REGISTERED is not
 * in the plan, the executions' names are made of what was found, and Step Functions refuses a name it has seen. Each
 * lane of the Map pauses after a start, so a month's jobs do not all begin at once. A start is not awaited: the job's
 * own machine, alarms and events tell its end.
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
    const pace = Wait.jsonPath(this, 'Pace', {
      comment: 'About as long as a job takes, so that the jobs of a month do not all begin at once.',
      time: WaitTime.duration(Duration.seconds(config.paceSeconds)),
    })
    pace.next(outcome('Started', OUTCOMES.started))
    const startJob = StepFunctionsStartExecution.jsonPath(this, 'StartJob', {
      stateMachine: jobMachine,
      taskTimeout: CALL_TIMEOUT,
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
    })
    startJob
      .addRetry(toRetryProps(START_OUTAGE))
      .addCatch(outcome('AlreadyStarted', OUTCOMES.already), {
        errors: ['StepFunctions.ExecutionAlreadyExistsException'],
      })
      // One distributor's trouble is not the others': they start, and the end of this execution is red.
      .addCatch(outcome('NotStarted', OUTCOMES.not), { errors: [Errors.ALL] })
    const map = MapState.jsonPath(this, 'StartJobs', {
      itemsPath: '$.month.starts',
      maxConcurrency: config.jobsMax,
      itemSelector: { month: JsonPath.stringAt('$.month.month'), start: JsonPath.objectAt('$$.Map.Item.Value') },
      resultPath: '$.outcomes',
    })
    map.itemProcessor(startJob.next(pace))
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
