import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import pMap from 'p-map'
import type { Checks } from '../../../functions/contract/checks.ts'
import { manifestKey } from '../../../functions/contract/manifest.ts'
import { sliceOptions } from '../../../functions/contract/remedies.ts'
import type { Clients } from '../clients.ts'
import { calling } from '../failures.ts'
import type { Finding } from '../finding.ts'
import { CALLS_AT_ONCE, STAGED_LOOKED_AT_MAX, STAGING_S } from '../limits.ts'
import { sizeOf } from '../objects.ts'
import type { Run } from '../runs.ts'
import { type NeededSet, neededSets, problemsOf, type Role, sourceOption } from './sets.ts'

/** The digests under staged/, at most so many. */
const stagedDigests = async ({ s3 }: Clients, bucket: string): Promise<string[]> => {
  const digests: string[] = []
  let ContinuationToken: string | undefined
  do {
    const page = await calling('S3', () =>
      s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: 'staged/', Delimiter: '/', ContinuationToken })),
    )
    for (const { Prefix = '' } of page.CommonPrefixes ?? []) digests.push(Prefix.split('/')[1] ?? '')
    ContinuationToken = page.NextContinuationToken
  } while (ContinuationToken !== undefined && digests.length < STAGED_LOOKED_AT_MAX)
  return digests.slice(0, STAGED_LOOKED_AT_MAX)
}

const newestOf = async ({ s3 }: Clients, bucket: string, digest: string): Promise<number> => {
  const { Contents = [] } = await calling('S3', () =>
    s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: `staged/${digest}/` })),
  )
  return Math.max(0, ...Contents.map(({ LastModified }) => LastModified?.getTime() ?? 0))
}

/**
 * Staged sources that lost an object or hold a damaged one: what open jobs rest on, what an undo goes back to, what the
 * months hold now. And the remains of a staging that never came to its end.
 */
export const stagedFindings = async (
  clients: Clients,
  checks: Checks,
  runs: readonly Run[] | null,
): Promise<Finding[]> => {
  const needed = await neededSets(clients, checks)
  const digests = [...new Set(needed.map(({ digest }) => digest))]
  const problems = await problemsOf(clients, digests)
  const found: Finding[] = []
  for (const set of needed) {
    const [first, ...others] = problems.get(set.digest) ?? []
    if (first !== undefined) found.push(damaged(set, first, others.length, await sourceOption(clients, set)))
  }
  return [...found, ...(await remainsBeside(clients, digests, runs))]
}

const CONSEQUENCES: Readonly<Record<Role, string>> = {
  open: 'The job cannot go on until its file is started again, which writes anew what is missing.',
  undo: 'An undo cannot bring that set back. If you want it back, start its file; if not, leave it.',
  registered: 'No undo could bring its rows back later. Starting its file heals the copy and touches no row.',
}

const damaged = (
  { role, digest, report, job }: NeededSet,
  problem: string,
  others: number,
  source: string,
): Finding => {
  const { distributor, month, jobs, undo } = report
  const of = job === undefined ? `job ${undo?.job}` : `job ${job.job}, ${job.source.rows} rows`
  const more = others === 0 ? '' : `, and ${others} more ${others === 1 ? 'is' : 'are'} missing or damaged`
  const isBlocked = role === 'undo' && jobs[0]?.state !== 'REGISTERED'
  return {
    check: 'staged-source-damaged',
    severity: role === 'undo' ? 'warning' : 'error',
    what: `The staged source ${digest} (${of}) of ${distributor} ${month} has a hole: ${problem}${more}. ${CONSEQUENCES[role]}`,
    remedy: `sharelock start ${sliceOptions(report)} ${source}${isBlocked ? ' --supersede' : ''}`,
    slice: { distributor, month },
  }
}

/** Staged sources without a manifest that nothing here needs. */
const remainsBeside = async (
  clients: Clients,
  needed: readonly string[],
  runs: readonly Run[] | null,
): Promise<Finding[]> => {
  const { bucket } = await clients.deployment()
  const digests = (await stagedDigests(clients, bucket)).filter((digest) => !needed.includes(digest))
  const found: Finding[] = []
  const manifestSize = (digest: string) => sizeOf(clients, manifestKey(digest))
  const sizes = await pMap(digests, manifestSize, { concurrency: CALLS_AT_ONCE })
  for (const digest of digests.filter((_, index) => sizes[index] === null))
    if (!(await mayBeStagedNow(clients, bucket, digest, runs))) found.push(remains(bucket, digest))
  return found
}

/** A run that is staging writes its manifest last. */
const mayBeStagedNow = async (clients: Clients, bucket: string, digest: string, runs: readonly Run[] | null) =>
  runs?.length !== 0 && Date.now() - (await newestOf(clients, bucket, digest)) < STAGING_S * 1_000

/** Operators may not delete objects, and need not: starting the file again completes the set. */
const remains = (bucket: string, digest: string): Finding => ({
  check: 'half-staged-source',
  severity: 'warning',
  what: `staged/${digest}/ has no manifest: a file was not staged to its end, or a month outside this look lost it. No open job and no registered slice of these months uses it.`,
  remedy: `Leave it, or start its file again, which completes it. Only where no month ever used it may the owner of the bucket remove it: aws s3 rm --recursive s3://${bucket}/staged/${digest}/`,
  slice: null,
})
