import { isFailure } from '../../functions/contract/failures.ts'
import type { JobReport, SliceReport } from '../../functions/contract/reports.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { isPartsKey } from '../../functions/store/s3/descriptor.ts'
import { openParts } from '../../functions/store/s3/parts.ts'
import { openSource } from '../../functions/store/s3/uploaded.ts'
import { type ChangeSinks, Changes, NO_CHANGES } from './changes.ts'
import type { Clients } from './clients.ts'
import { compare, NO_ROWS, type RowSet } from './difference.ts'
import { headOf } from './expectation.ts'
import { calling, operationError, refusal } from './failures.ts'
import { CHANGED_SHARE_MAX, ROWS_SHARE_MIN, SET_BYTES_READ_MAX } from './limits.ts'
import { sizeOf } from './objects.ts'
import { OperationError } from './operation-error.ts'
import { inTurn, type Opened } from './parts.ts'
import { type ReadingOptions, readApart } from './read-apart.ts'
import { type Run, runningOf } from './runs.ts'
import { checkSet, rowsOfSet, validateSet } from './staged-set.ts'
import type { Difference, StartPlan, Validation } from './start-plan.ts'
import { openFile } from './validate.ts'
import { warningsOf } from './warnings.ts'

/** The uploaded name of an operator's file. The schedule looks for `incoming/<CODE>/<month>.csv` and never sees it. */
export const uploadKeyOf = ({ distributor, month }: SliceName, sha256: string): string =>
  `incoming/operators/${distributor}/${month}/${sha256}`

/** A job that has not come to REGISTERED and is not closed. Only the newest can be open. */
export const openJobOf = ({ jobs }: Pick<SliceReport, 'jobs'>): JobReport | null => {
  const [newest] = jobs
  return newest?.status === 'being replaced' || newest?.status === 'halted' ? newest : null
}

/** The job whose set readers see; null where they see none, or where so many jobs came since that it is out of sight. */
const shownIn = ({ jobs, active }: Pick<SliceReport, 'jobs' | 'active'>): JobReport | null =>
  jobs.find(({ job }) => job === active) ?? null

type Read = { readonly validation: Validation; readonly rows: RowSet | null; readonly uploadKey: string | null }

const requireObject = async (clients: Clients, key: string): Promise<void> => {
  if ((await sizeOf(clients, key)) !== null) return
  throw new OperationError('NotFound', `There is no ${key} in the bucket ${(await clients.deployment()).bucket}.`)
}

/** An uploaded file, or the files that a descriptor names, one after another. */
const openUploaded = async ({ s3 }: Clients, bucket: string, key: string): Promise<Opened> => {
  if (!isPartsKey(key)) return { bytes: (await openSource(s3, bucket, key)).bytes, parts: undefined }
  const { parts } = await openParts(s3, bucket, key)
  return { bytes: inTurn(parts), parts: parts.map(({ open: _, ...part }) => part) }
}

/** Reads what is to be registered, wherever it is. */
const readPlanned = async (
  clients: Clients,
  slice: SliceName,
  source: StartPlan['source'],
  options: ReadingOptions,
): Promise<Read> => {
  const { bucket } = await clients.deployment()
  if ('key' in source) await requireObject(clients, source.key)
  const rules = (await clients.inspect({ question: 'distributors' })).find(({ code }) => code === slice.distributor)
  if (rules === undefined)
    throw refusal('UnknownDistributor', `No distributor has the code ${slice.distributor}.`, slice)
  if ('staged' in source) return { ...(await validateSet(clients, source.staged, rules, options)), uploadKey: null }
  const file = 'path' in source ? await openFile(source.path) : null
  const key = 'key' in source ? source.key : ''
  const { bytes, parts } =
    file === null
      ? await calling('S3', () => openUploaded(clients, bucket, key))
      : { bytes: file.bytes, parts: undefined }
  const { profile } = await clients.inspect({ question: 'profile', distributor: slice.distributor })
  const judging = { rules, profile, month: slice.month, parts }
  const { validation, rows } = await calling('S3', () => readApart(bytes, judging, options))
  const uploadKey = file === null || rows === null ? null : uploadKeyOf(slice, await file.sha256())
  return { validation, rows, uploadKey }
}

const NO_CHANGE = { added: 0, removed: 0, changed: 0, unchanged: 0, problem: null, ...NO_CHANGES } as const

/** How the new rows differ from the set that is read now. Of a refused file nothing can be said. */
const differenceTo = async (
  clients: Clients,
  base: JobReport | null,
  { validation, rows }: Read,
  sinks: ChangeSinks,
): Promise<Difference> => {
  const against = base && { job: base.job, digest: base.source.digest, rows: base.source.rows }
  const { summary } = validation
  if (rows === null || summary === null) return { against, ...NO_CHANGE }
  if (against?.digest === summary.digest) return { against, ...NO_CHANGE, unchanged: summary.rows }
  try {
    const changes = new Changes(sinks.rows)
    const before = against === null ? NO_ROWS : await rowsOfSet(clients, against.digest)
    const counts = await compare(rows, before, changes)
    await sinks.parties?.(changes.partyLines())
    return { against, ...NO_CHANGE, ...counts, ...changes.summary }
  } catch (error) {
    // Registering a file must not depend on the copy of another: it is what repairs a copy that was lost.
    if (isFailure(error, 'StagedSourceDamaged'))
      return { against, ...NO_CHANGE, added: summary.rows, problem: error.message }
    throw operationError(error, 'S3')
  }
}

/** True where the change is so large that it may be a mistake: see CHANGED_SHARE_MAX and ROWS_SHARE_MIN. */
export const isLarge = (
  { against, removed, changed, problem }: Pick<Difference, 'against' | 'removed' | 'changed' | 'problem'>,
  rowsNow: number,
  rowsNew: number,
): boolean => {
  // Rows that cannot be compared, since no job registered them or their copy is lost: no undo brings them back.
  if (against === null || problem !== null) return rowsNow > 0
  return removed + changed > against.rows * CHANGED_SHARE_MAX || rowsNew < against.rows * ROWS_SHARE_MIN
}

/** True where the run registers the set of this digest. Before its job is open only its input tells, if it does. */
export const isSameSource = (
  run: Run,
  plan: Pick<StartPlan, 'uploadKey' | 'isUndo'>,
  digest: string,
  report: SliceReport,
): boolean => {
  const job = report.jobs.find(({ execution }) => execution === run.executionArn)
  if (job !== undefined) return job.source.digest === digest
  if (run.input === null) return false
  const { source, expect } = run.input
  if (expect?.digest !== undefined) return expect.digest === digest
  if ('undo' in source) return plan.isUndo
  if ('staged' in source) return source.staged === digest
  // Another key may hold other rows by the time that run reads it; the name of an upload is its content's.
  return 'key' in source && source.key === plan.uploadKey
}

/**
 * Looks at a start without making it: reads the file by the distributor's rules, compares it with the slice's last
 * registered set, counts what the slice holds, and finds who else works on it.
 */
export const planStart = async (
  clients: Clients,
  slice: SliceName,
  source: StartPlan['source'],
  isUndo: boolean,
  { onRows, signal, sinks = {} }: Partial<ReadingOptions> & { readonly sinks?: ChangeSinks | undefined } = {},
): Promise<StartPlan> => {
  const ending = new AbortController()
  const signals = signal === undefined ? ending.signal : AbortSignal.any([ending.signal, signal])
  try {
    return await lookAtStart(clients, slice, source, isUndo, { onRows, signal: signals }, sinks)
  } finally {
    ending.abort()
  }
}

const lookAtStart = async (
  clients: Clients,
  slice: SliceName,
  source: StartPlan['source'],
  isUndo: boolean,
  options: ReadingOptions,
  sinks: ChangeSinks,
): Promise<StartPlan> => {
  const [report, rowsNow, read] = await Promise.all([
    clients.inspect({ question: 'slice', ...slice }),
    clients.inspect({ question: 'rows', ...slice }),
    readPlanned(clients, slice, source, options),
  ])
  const base = shownIn(report)
  const { validation, uploadKey } = read
  const [difference, warned, runs] = await Promise.all([
    differenceTo(clients, base, read, sinks),
    warningsOf(clients, slice, validation),
    runningOf(clients, slice, report.jobs),
  ])
  const digest = validation.summary?.digest ?? ''
  const open = openJobOf(report)
  const continues = open?.source.digest === digest ? open : null
  const same = runs.find((run) => isSameSource(run, { uploadKey, isUndo }, digest, report))
  const rowsToRegister = validation.summary?.rows ?? 0
  // With that many jobs since, the set that is read now is out of sight: no change may pass for a small one.
  const isUnclear = base === null && report.active !== null
  const needsConfirmation = isUndo || isUnclear || isLarge(difference, rowsNow.rows, rowsToRegister)
  const alreadyRegistered = report.jobs[0]?.status === 'settled' && report.jobs[0].source.digest === digest
  const copy = alreadyRegistered ? await checkSet(clients, digest, SET_BYTES_READ_MAX) : null
  return {
    ...slice,
    source,
    uploadKey,
    isUndo,
    validation,
    ...warned,
    difference,
    rowsToDelete: rowsNow.rows,
    rowsToRegister,
    confirmation: validation.accepted && needsConfirmation ? sliceName(slice) : null,
    blockedBy: open !== null && continues === null ? open : null,
    continues,
    joins: same?.executionArn ?? null,
    busyWith: same === undefined ? (runs[0]?.executionArn ?? null) : null,
    head: headOf(report),
    behind: runs.filter((run) => run !== same).map(({ executionArn }) => executionArn),
    alreadyRegistered,
    copyProblem: copy?.problems[0] ?? null,
  }
}

/** The plan of an undo: which registered set comes back, and how it differs from the one that is read now. */
export const planUndo = async (clients: Clients, slice: SliceName): Promise<StartPlan> => {
  const { undo: target } = await clients.inspect({ question: 'slice', ...slice })
  if (target === null)
    throw refusal(
      'NothingToUndo',
      `${sliceName(slice)} has no other registered set before its newest job to go back to.`,
      slice,
    )
  return await planStart(clients, slice, { staged: target.digest }, true)
}
