import { Choice, Condition, Errors, Fail } from 'aws-cdk-lib/aws-stepfunctions'
import type { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks'
import { Construct } from 'constructs'
import { FAILURES, type FailureName, failuresEnding } from '../../functions/contract/failure-table.ts'
import { HALT } from './retries.ts'
import { FIELDS, lambdaTask, type TaskFunctions } from './tasks.ts'

/** Where a Catch puts the error that ends the execution. */
export const FAILURE_PATH = '$.failure'

const isFailure = (names: readonly FailureName[]) =>
  Condition.or(...names.map((name) => Condition.stringEquals('$.failure.Error', name)))

/**
 * How an execution ends without success, and what is done before. The state's name says what kind of end it was; the
 * execution's error and cause are those of the failure itself.
 *
 * - Rejected: the file or the request is wrong; nothing was touched.
 * - Refused: the run could not begin, for another run, an open job, an outdated plan or an outage; it touched nothing.
 * - Superseded: another execution overtook this one, which may no longer write.
 * - Halted: the job stopped and can be resumed.
 */
export class Outcomes extends Construct {
  readonly rejected: Fail
  readonly refused: Fail
  /** Raises the job's fence, records the halt, releases the lock; then ends the execution. */
  readonly haltJob: LambdaInvoke

  constructor(scope: Construct, id: string, functions: TaskFunctions) {
    super(scope, id)
    const end = (name: string, comment: string) =>
      Fail.jsonPath(this, name, { comment, errorPath: '$.failure.Error', causePath: '$.failure.Cause' })
    this.rejected = end('Rejected', 'The file or the request is wrong. Nothing was touched.')
    this.refused = end(
      'Refused',
      'The run could not begin: another run, an open job or an outage is in the way. It touched nothing.',
    )
    const superseded = end('Superseded', 'Another execution overtook this one, which may no longer write.')
    const halted = end('Halted', 'The job stopped before REGISTERED. It can be resumed.')

    // Superseded and Refused come here too: releasing the lock by its own token is due in every case.
    const route = new Choice(this, 'RouteFailure')
      .when(isFailure(failuresEnding('later', 'Superseded')), superseded)
      // A held slice is refused by RouteHeld, and comes here only where the job of this run has to be halted.
      .when(
        isFailure(failuresEnding('later', 'Refused').filter((name) => FAILURES[name].family !== 'held')),
        this.refused,
      )
      .otherwise(halted)

    const { execution, slice, lock, job, failure: caught } = FIELDS
    this.haltJob = lambdaTask(this, functions, 'HaltJob', {
      payload: { execution, slice, lock, job, failure: caught },
      resultPath: '$.halt',
      retries: [HALT],
    })
    this.haltJob.next(route)
    // Not halted after half an hour: the lock stays until its TTL ends, and the status event halts the job later.
    this.haltJob.addCatch(route, { errors: [Errors.ALL], resultPath: '$.haltFailure' })
  }
}
