import { Choice, Condition, Errors, JsonPath, Pass } from 'aws-cdk-lib/aws-stepfunctions'
import type { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks'
import { Construct } from 'constructs'
import { type FailureName, failuresEnding, failuresOf } from '../../functions/contract/failure-table.ts'
import { REACQUIRE_MAX } from '../../functions/contract/limits.ts'
import { FAILURE_PATH, type Outcomes } from './outcomes.ts'
import { ORDINARY, STAGING, WAIT_FOR_LOCK, WAIT_FOR_READERS, WAIT_FOR_TAKEN_LOCK } from './retries.ts'
import { FIELDS, lambdaTask, type TaskFunctions } from './tasks.ts'

/** Where a lost lock is noted: it is not the execution's failure as long as a new lock may be acquired. */
export const REACQUIRE_FAILURE_PATH = '$.reacquire.failure'

/** Where Valkey's outage is noted: not the execution's failure either, if the request says to proceed. */
const OUTAGE_PATH = '$.outage'

/** Which life of the execution this is: read from the context where it is used, for a redrive repeats no earlier state. */
const LIFE = {
  startedAt: JsonPath.executionStartTime,
  redrives: JsonPath.numberAt('$$.Execution.RedriveCount'),
} as const

/**
 * From the request to an open job: TakeRequest -> StageSource -> MintToken -> AcquireLock -> OpenJob, and the two ways
 * around: without Valkey (RouteOutage), and back after a lost lock (CountReacquire).
 */
export class Opening extends Construct {
  readonly start: Pass
  readonly openJob: LambdaInvoke
  /** Where a guarded task goes that lost its lock; the Catch leaves the failure at REACQUIRE_FAILURE_PATH. */
  readonly countReacquire: Pass

  constructor(scope: Construct, id: string, functions: TaskFunctions, outcomes: Outcomes) {
    super(scope, id)
    const { rejected, refused, haltJob } = outcomes
    const { request, execution, slice, staged, lock, onHeld, head, job } = FIELDS

    // Whatever StartExecution was given, from here on the state is an object, and a Catch can add to it.
    this.start = Pass.jsonPath(this, 'TakeRequest', {
      parameters: { request: JsonPath.objectAt('$'), execution: JsonPath.executionId },
    })
    const stageSource = lambdaTask(this, functions, 'StageSource', { retries: STAGING })
      .addCatch(rejected, { errors: failuresEnding('staging', 'Rejected'), resultPath: FAILURE_PATH })
      // No lock is held and no job is open yet, so there is nothing to halt.
      .addCatch(refused, { errors: [Errors.ALL], resultPath: FAILURE_PATH })

    // Minted outside AcquireLock, so that its retry after a lost reply brings the same token and is answered "mine".
    // The token begins with the execution's name: whom it refuses learns who holds the slice.
    const mintToken = Pass.jsonPath(this, 'MintToken', {
      parameters: { token: JsonPath.format('{}/{}', JsonPath.executionName, JsonPath.uuid()), held: true },
      resultPath: '$.lock',
    })

    // A held lock refuses a new run at once. After a re-acquire this execution's own job is still open: once the wait for
    // the lock is over, that is halted.
    const routeHeld = new Choice(this, 'RouteHeld').when(Condition.isNull('$.job'), refused).otherwise(haltJob)

    const proceedWithoutLock = Pass.jsonPath(this, 'ProceedWithoutLock', {
      parameters: { token: JsonPath.stringAt('$.lock.token'), held: false },
      resultPath: '$.lock',
    })
    const routeOutage = new Choice(this, 'RouteOutage')
      .when(Condition.stringEquals('$.request.onOutage', 'proceed'), proceedWithoutLock)
      .otherwise(this.giveUp('GiveUpLock', OUTAGE_PATH, haltJob))

    const acquireLock = lambdaTask(this, functions, 'AcquireLock', {
      payload: { slice, lock, onHeld, own: job },
      resultPath: '$.opening',
      retries: [WAIT_FOR_LOCK, WAIT_FOR_TAKEN_LOCK, ...ORDINARY],
    })
      .addCatch(routeHeld, { errors: failuresOf('held'), resultPath: FAILURE_PATH })
      .addCatch(routeOutage, { errors: ['LockUnreachable' satisfies FailureName], resultPath: OUTAGE_PATH })
      // The lock may have been set before the failure: HaltJob releases it by this token.
      .addCatch(haltJob, { errors: [Errors.ALL], resultPath: FAILURE_PATH })
    const readHead = lambdaTask(this, functions, 'ReadHead', { payload: { slice }, resultPath: '$.opening' }).addCatch(
      haltJob,
      { errors: [Errors.ALL], resultPath: FAILURE_PATH },
    )
    this.openJob = lambdaTask(this, functions, 'OpenJob', {
      payload: { request, execution, life: LIFE, slice, staged, lock, head, own: job },
      resultPath: '$.job',
      retries: [WAIT_FOR_READERS, ...ORDINARY],
    })
    this.countReacquire = this.wireReacquire(mintToken, outcomes)
    this.openJob
      // Lost between AcquireLock and here: nothing was opened under it, so a new lock is all that is missing.
      .addCatch(this.countReacquire, {
        errors: ['LockLost' satisfies FailureName],
        resultPath: REACQUIRE_FAILURE_PATH,
      })
      // Where the row is not this execution's, HaltJob changes nothing in it and only releases the lock.
      .addCatch(haltJob, { errors: [Errors.ALL], resultPath: FAILURE_PATH })

    this.start.next(stageSource).next(mintToken).next(acquireLock).next(this.openJob)
    proceedWithoutLock.next(readHead).next(this.openJob)
  }

  /** Back to MintToken, a bounded number of times. A recovered loss stays visible in the output, beside its count. */
  private wireReacquire(mintToken: Pass, { haltJob }: Outcomes): Pass {
    const giveUp = this.giveUp('GiveUpReacquire', REACQUIRE_FAILURE_PATH, haltJob)
    const route = new Choice(this, 'RouteReacquire')
      .when(Condition.numberGreaterThan('$.reacquire.count', REACQUIRE_MAX), giveUp)
      .otherwise(mintToken)
    const count = Pass.jsonPath(this, 'CountReacquire', {
      parameters: {
        count: JsonPath.mathAdd(JsonPath.numberAt('$.reacquire.count'), 1),
        failure: JsonPath.objectAt(REACQUIRE_FAILURE_PATH),
      },
      resultPath: '$.reacquire',
    })
    count.next(route)
    return count
  }

  /** What might have been tolerated becomes the failure of the execution. */
  private giveUp(name: string, inputPath: string, haltJob: LambdaInvoke): Pass {
    const pass = Pass.jsonPath(this, name, { inputPath, resultPath: FAILURE_PATH })
    pass.next(haltJob)
    return pass
  }
}
