import pMap from 'p-map'
import type { Checks } from '../../../functions/contract/checks.ts'
import type { JobReport, SliceReport } from '../../../functions/contract/reports.ts'
import type { Clients } from '../clients.ts'
import { CALLS_AT_ONCE, SET_BYTES_READ_MAX, SETS_BYTES_READ_MAX } from '../limits.ts'
import { sizeOf } from '../objects.ts'
import { describeRun } from '../runs.ts'
import { checkSet } from '../staged-set.ts'

/** Why a staged source is needed: its job is open, an undo goes back to it, or it is what a month holds now. */
export type Role = 'open' | 'undo' | 'registered'

/** A staged source that something rests on. */
export type NeededSet = {
  readonly role: Role
  readonly digest: string
  readonly report: SliceReport
  /** The job that had it; absent where it is older than the jobs that are shown. */
  readonly job: JobReport | undefined
}

/**
 * The sets that open jobs need, and registered slices of the months, and an undo of either; open jobs first. The slices are
 * asked one after another: jobs have to run meanwhile.
 */
export const neededSets = async (clients: Clients, { openJobs, shown }: Checks): Promise<NeededSet[]> => {
  const found: NeededSet[] = []
  for (const { distributor, month } of [...openJobs, ...shown]) {
    const report = await clients.inspect({ question: 'slice', distributor, month })
    const [newest] = report.jobs
    const add = (role: Role, digest: string): void => {
      found.push({ role, digest, report, job: report.jobs.find(({ source }) => source.digest === digest) })
    }
    if (newest !== undefined) add(newest.state === 'REGISTERED' ? 'registered' : 'open', newest.source.digest)
    if (report.undo !== null && report.undo.digest !== newest?.source.digest) add('undo', report.undo.digest)
  }
  const order: readonly Role[] = ['open', 'undo', 'registered']
  return found.sort((a, b) => order.indexOf(a.role) - order.indexOf(b.role))
}

/** What is wrong with each of these staged sources; contents are read as long as there is not too much to read. */
export const problemsOf = async (
  clients: Clients,
  digests: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const looked = async (digest: string) => [digest, (await checkSet(clients, digest, 0)).problems] as const
  const problems = new Map<string, readonly string[]>(await pMap(digests, looked, { concurrency: CALLS_AT_ONCE }))
  let left = SETS_BYTES_READ_MAX
  for (const digest of digests) {
    if (problems.get(digest)?.length !== 0) continue
    const check = await checkSet(clients, digest, Math.min(left, SET_BYTES_READ_MAX))
    problems.set(digest, check.problems)
    left -= check.bytes
  }
  return problems
}

/** Uploads of operators have addresses made of their content; any other key may hold another file by now. */
const keepsItsContent = (key: string): boolean => key.startsWith('incoming/operators/')

/**
 * How the file of a set is named in a command: by its key, where it is still in the bucket and can be no other file; where
 * a job of the set is open, any key will do, since another file is refused then.
 */
export const sourceOption = async (clients: Clients, { role, digest, report, job }: NeededSet): Promise<string> => {
  const run = job === undefined ? null : await describeRun(clients.sfn, job.execution)
  const ofRun = run?.input?.source
  const keys = [
    ...(ofRun !== undefined && 'key' in ofRun ? [ofRun.key] : []),
    ...report.audit
      .filter(({ execution }) => execution?.includes(`-${digest.slice(0, 16)}-`) === true)
      .map(({ detail }) => String(detail.source)),
  ]
  for (const key of new Set(keys))
    if (
      key.startsWith('incoming/') &&
      (role === 'open' || keepsItsContent(key)) &&
      (await sizeOf(clients, key)) !== null
    )
      return `--source ${key}`
  return '--file FILE'
}
