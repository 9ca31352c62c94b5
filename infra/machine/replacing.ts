import {
  Choice,
  Condition,
  Errors,
  type INextable,
  JsonPath,
  Map as MapState,
  Succeed,
  type TaskStateBase,
} from 'aws-cdk-lib/aws-stepfunctions'
import { Construct } from 'constructs'
import type { FailureName } from '../../functions/contract/failure-table.ts'
import type { TaskName } from '../../functions/contract/tasks.ts'
import type { JobState } from '../../functions/contract/words.ts'
import { type Opening, REACQUIRE_FAILURE_PATH } from './opening.ts'
import { FAILURE_PATH, type Outcomes } from './outcomes.ts'
import { CHUNK_LOOP, ORDINARY, type RetryPolicy } from './retries.ts'
import { FIELDS, GUARDED, lambdaTask, type TaskFunctions } from './tasks.ts'

export type ReplacingProps = {
  readonly functions: TaskFunctions
  /** Map items at work at once. */
  readonly lanes: number
  readonly outcomes: Outcomes
  readonly opening: Opening
}

/**
 * From an open job to REGISTERED: RouteByState -> (ReuseSet ->) PlanDelete -> DeleteChunks -> MarkDeleted -> BeginRegistering ->
 * RegisterChunks -> MarkRegistered -> ReleaseLock -> PublishEvents -> Registered. Its output is the whole state, so
 * what was tolerated on the way (Valkey's outage, a lost lock, a stranger's rows, a failed release or publication) is
 * in it.
 */
export class Replacing extends Construct {
  readonly routeByState: Choice
  private readonly props: ReplacingProps

  constructor(scope: Construct, id: string, props: ReplacingProps) {
    super(scope, id)
    this.props = props
    const { functions } = props

    const reuseSet = this.guarded('ReuseSet', '$.job', CHUNK_LOOP)
    const planDelete = this.guarded('PlanDelete', '$.work')
    const deleteChunks = this.chunks('DeleteChunks', 'DeleteChunk')
    // Rows of a stranger's insert send the job back to its plan; the handler counts the plans and ends it.
    const markDeleted = lambdaTask(this, functions, 'MarkDeleted', { payload: GUARDED, resultPath: '$.job' }).addCatch(
      planDelete,
      { errors: ['SliceNotEmpty' satisfies FailureName], resultPath: '$.replan' },
    )
    this.haltOnFailure(markDeleted)
    const beginRegistering = this.guarded('BeginRegistering', '$.work')
    const registerChunks = this.chunks('RegisterChunks', 'RegisterChunk')
    const markRegistered = this.guarded('MarkRegistered', '$.job', CHUNK_LOOP)

    // The job is REGISTERED: a failure from here on does not undo that, and is in the output. A lock that
    // was not released expires; the sweeper publishes what is left in the outbox.
    const registered = new Succeed(this, 'Registered')
    const { slice, lock, job } = FIELDS
    const publishEvents = lambdaTask(this, functions, 'PublishEvents', { payload: { job }, resultPath: '$.publish' })
    publishEvents.addCatch(registered, { errors: [Errors.ALL], resultPath: '$.publish.failure' })
    const releaseLock = lambdaTask(this, functions, 'ReleaseLock', {
      payload: { slice, lock },
      resultPath: '$.release',
    })
    releaseLock.addCatch(publishEvents, { errors: [Errors.ALL], resultPath: '$.release.failure' })

    planDelete.next(deleteChunks).next(markDeleted).next(beginRegistering).next(registerChunks).next(markRegistered)
    markRegistered.next(releaseLock).next(publishEvents).next(registered)

    const next = {
      DELETING: planDelete,
      DELETED: beginRegistering,
      REGISTERING: beginRegistering,
      REGISTERED: releaseLock,
    } as const satisfies Record<JobState, INextable>
    this.routeByState = new Choice(this, 'RouteByState')
    // Its slot holds the wanted set already: REGISTERED comes back, or the same state without this.
    this.routeByState.when(Condition.booleanEquals('$.job.reusesSet', true), reuseSet)
    reuseSet.next(this.routeByState)
    // No default: the record has every state there is.
    for (const [state, target] of Object.entries(next))
      this.routeByState.when(Condition.stringEquals('$.job.state', state), target)
  }

  private guarded(name: TaskName, resultPath: string, retries: readonly RetryPolicy[] = ORDINARY): TaskStateBase {
    return this.haltOnFailure(lambdaTask(this, this.props.functions, name, { payload: GUARDED, resultPath, retries }))
  }

  /**
   * A Map over the plan's items, in lanes. The ledger keeps what the lanes did, so an item's output is discarded and
   * the plan replaced by its length: neither grows with the slice from here on. The first failing item ends the Map,
   * and siblings in mid-chunk are shut out by HaltJob's raised fence.
   */
  private chunks(name: string, task: TaskName): MapState {
    const { functions, lanes } = this.props
    const map = MapState.jsonPath(this, name, {
      itemsPath: '$.work.items',
      maxConcurrency: lanes,
      itemSelector: { ...GUARDED, item: JsonPath.objectAt('$$.Map.Item.Value') },
      resultSelector: { items: JsonPath.arrayLength(JsonPath.objectAt('$')) },
      resultPath: '$.work',
    })
    map.itemProcessor(lambdaTask(this, functions, task, { outputPath: JsonPath.DISCARD, retries: CHUNK_LOOP }))
    return this.haltOnFailure(map)
  }

  /** A lost lock is acquired anew; everything else halts the job: what is not expected is not retried. */
  private haltOnFailure<T extends TaskStateBase | MapState>(state: T): T {
    state.addCatch(this.props.opening.countReacquire, {
      errors: ['LockLost' satisfies FailureName],
      resultPath: REACQUIRE_FAILURE_PATH,
    })
    state.addCatch(this.props.outcomes.haltJob, { errors: [Errors.ALL], resultPath: FAILURE_PATH })
    return state
  }
}
