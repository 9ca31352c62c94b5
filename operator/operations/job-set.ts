import { formatUnits, type Manifest, parseUnits } from '../../functions/contract/manifest.ts'
import { LINE_END, splitLine } from '../../functions/contract/row-format.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import { csvOfStaged } from '../../functions/job/staging/judge-staged.ts'
import { readChunks } from '../../functions/store/s3/staged.ts'
import { type ChangeSinks, Changes, type Largest } from './changes.ts'
import type { Clients } from './clients.ts'
import { type Counts, compare, rowsOfStaged } from './difference.ts'
import { calling, operationError } from './failures.ts'
import { OperationError } from './operation-error.ts'
import { manifestOf } from './staged-set.ts'

/*
 * The exact rows of a job: its staged source in S3, by its manifest, however long ago it ran. The table is never asked:
 * it holds what came later. See decisions.md, "A job's rows come from its staged source".
 */

/** A job and the set that it registered, or would have. */
export type JobSet = SliceName & {
  readonly job: number
  readonly state: string
  readonly status: string
  readonly digest: string
  readonly rows: number
  readonly shareSum: string
}

/** A set that is read when `csv` is: it throws at its end where the rows are not those that the job's row promises. */
export type ExportedSet = JobSet & { readonly csv: AsyncIterable<Buffer> }

/** How one set differs from another; every changed row went to whoever took them. */
export type SetDifference = Counts & Largest & { readonly before: JobSet; readonly after: JobSet }

/** @throws OperationError NotFound; Failure StagedSourceDamaged */
const setOf = async (clients: Clients, number: number): Promise<{ set: JobSet; manifest: Manifest }> => {
  const { distributor, month, jobs } = await clients.inspect({ question: 'job', job: number })
  const found = jobs.find(({ job }) => job === number)
  if (found === undefined) throw new OperationError('NotFound', `No job has the number ${number}.`)
  const { state, status, source } = found
  const set = { distributor, month, job: number, state, status, ...source }
  const manifest = await calling('S3', () => manifestOf(clients, source.digest))
  if (manifest.rows !== set.rows || manifest.shareSum !== set.shareSum)
    throw notItsRows(set, manifest.rows, manifest.shareSum)
  return { set, manifest }
}

const notItsRows = ({ job, rows, shareSum }: JobSet, found: number, sum: string): OperationError =>
  new OperationError(
    'Rejected',
    `The staged source of job ${job} has ${found} rows with a sum of ${sum}, and the job's row says ${rows} rows with ${shareSum}. It is not what that job registered; \`sharelock doctor\` says what is wrong with staged sources.`,
  )

/** The bodies as they are, counted and added up; a set that comes to something else throws behind its last row. */
async function* counted(bodies: AsyncIterable<Buffer>, set: JobSet): AsyncGenerator<Buffer> {
  let [rows, units] = [0, 0n]
  for await (const body of bodies) {
    const lines = body.toString('latin1').split(LINE_END)
    lines.pop()
    rows += lines.length
    units += lines.reduce((sum, line) => sum + parseUnits(splitLine(line).share), 0n)
    yield body
  }
  if (rows !== set.rows || formatUnits(units) !== set.shareSum) throw notItsRows(set, rows, formatUnits(units))
}

/** What breaks off in the middle is told in the operator's words, too. */
async function* told(csv: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* csv
  } catch (error) {
    throw operationError(error, 'S3')
  }
}

/** @throws OperationError NotFound, and what reading `csv` throws: Rejected where the set is not the job's, Failed where an object is damaged */
export const exportSet = async (clients: Clients, job: number): Promise<ExportedSet> => {
  const { set, manifest } = await setOf(clients, job)
  const { bucket } = await clients.deployment()
  return { ...set, csv: told(csvOfStaged(counted(readChunks(clients.s3, bucket, manifest), set))) }
}

/**
 * Compares the sets of two jobs, of one slice or of two.
 */
export const diffSets = async (
  clients: Clients,
  jobs: { readonly before: number; readonly after: number },
  sinks: ChangeSinks = {},
): Promise<SetDifference> => {
  const [before, after] = await Promise.all([setOf(clients, jobs.before), setOf(clients, jobs.after)])
  const { bucket } = await clients.deployment()
  const changes = new Changes(sinks.rows)
  const rows = ({ manifest }: typeof before) => rowsOfStaged(clients.s3, bucket, manifest)
  const counts = await calling('S3', () => compare(rows(after), rows(before), changes))
  await sinks.parties?.(changes.partyLines())
  return { before: before.set, after: after.set, ...counts, ...changes.summary }
}
