import { Failure } from '../contract/failures.ts'
import { StageSourceInput } from '../contract/messages.ts'
import { sourceRowsMax } from '../contract/source-limits.ts'
import type { SourceRules } from '../contract/source-refusals.ts'
import { TASKS } from '../contract/tasks.ts'
import { type Slice, sliceName } from '../contract/words.ts'
import { requireDigest } from '../job/expectation.ts'
import { makeStaged } from '../job/staging/make-staged.ts'
import { type TaskContext, task } from '../job/task.ts'
import { warningPolicy } from '../job/warning-policy.ts'
import { type Distributor, findDistributor } from '../store/distributor.ts'
import { writeHeld } from '../store/held-set.ts'
import { knowsSource } from '../store/job/row.ts'
import { undoTarget } from '../store/job/undo-target.ts'
import { repeatable, statement } from '../store/mysql/transaction.ts'
import { findProfile } from '../store/profile.ts'
import { requireReady } from '../store/schema/health.ts'

/**
 * Reads the file to its end, validates it and writes its staged source, before anything is locked or deleted.
 *
 * 1. Make sure that the server has what a run needs. 2. Find the distributor, its rules and its profile, and for an undo the staged
 * source to go back to. 3. Stage the source unless it has warnings that nobody confirmed, and compare it with what was expected.
 * 4. Answer with the state that travels through the machine.
 *
 * A second run reads the file again and finds the staged source at its address: nothing is written twice. An undo and a
 * staged source are read in full, too, and judged by the rules of today.
 */
export const handler = task('StageSource', StageSourceInput, async ({ request, execution }, context) => {
  const { database } = context
  await requireReady(database)
  const distributor = await statement(database, (reader) => findDistributor(reader, request.distributor))
  const profile = await statement(database, (reader) => findProfile(reader, distributor))
  const slice: Slice = { distributorId: distributor.id, distributor: request.distributor, month: request.month }
  const source = 'undo' in request.source ? { staged: await previousSource(context, slice) } : request.source
  if ('staged' in request.source) await requireKnown(context, slice, request.source.staged)
  const staged = await makeStaged(source, {
    s3: context.s3,
    bucket: context.env.BUCKET,
    slice,
    rules: rulesOf(distributor),
    profile,
    policy: warningPolicy(context, slice, request, execution),
    execution,
    limits: { rowsMax: sourceRowsMax(memoryMb()) },
  })
  requireDigest(slice, request.expect, staged.digest)
  const { held } = staged
  if (held !== undefined) await repeatable(database, (one) => writeHeld(one, staged.digest, held))
  return { request, execution, slice, staged, job: null, reacquire: { count: 0 } }
})

/** The function's own, as Lambda says; a stage may have less than the task's. */
const memoryMb = (): number => Number(process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE ?? TASKS.StageSource.memoryMb)

const rulesOf = ({ sumRule, partyScheme, overClaim }: Distributor): SourceRules => ({ sumRule, partyScheme, overClaim })

/**
 * A staged source carries no rules with it, so only one that the distributor's own rules let through may be named.
 */
const requireKnown = async (context: TaskContext, slice: Slice, digest: string): Promise<void> => {
  if (await statement(context.database, (reader) => knowsSource(reader, slice.distributorId, digest))) return
  throw new Failure(
    'InvalidInput',
    `No job of ${slice.distributor} ever used the staged source ${digest}. Name the file by its key, so that it is validated under this distributor's rules.`,
  )
}

/** OpenJob asks again, under the lock: by then another set may be the one to go back to. */
const previousSource = async (context: TaskContext, slice: Slice): Promise<string> => {
  const job = await statement(context.database, (reader) => undoTarget(reader, slice))
  if (job !== undefined) return job.source_digest
  throw new Failure(
    'NothingToUndo',
    `${sliceName(slice)} has no other REGISTERED set before its newest job to go back to`,
  )
}
