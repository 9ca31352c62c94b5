import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { manifestKey } from '../../../functions/contract/manifest.ts'
import type { Checks } from '../../../functions/contract/reports.ts'
import type { Clients } from '../clients.ts'
import { calling } from '../failures.ts'
import { CALLS_AT_ONCE, STAGED_LOOKED_AT_MAX, STAGING_S } from '../limits.ts'
import { sizeOf } from '../objects.ts'
import type { Finding } from '../operations.ts'
import { sliceOptions } from '../remedies.ts'
import type { Run } from '../runs.ts'

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
 * Staged sources without a manifest: what a registered slice of the months rests on and has lost, which an undo would
 * need; and the remains of a staging that never came to its end.
 */
export const stagedFindings = async (
  clients: Clients,
  { registered, openJobs }: Checks,
  runs: readonly Run[] | null,
): Promise<Finding[]> => {
  const { bucket } = await clients.place()
  const used = Map.groupBy(registered, ({ digest }) => digest)
  const digests = [...new Set([...used.keys(), ...(await stagedDigests(clients, bucket))])]
  const missing: string[] = []
  for (let from = 0; from < digests.length; from += CALLS_AT_ONCE) {
    const some = digests.slice(from, from + CALLS_AT_ONCE)
    const sizes = await Promise.all(some.map((digest) => sizeOf(clients, manifestKey(digest))))
    missing.push(...some.filter((_, index) => sizes[index] === null))
  }
  const open = missing.length === 0 ? [] : await openSources(clients, openJobs)
  const found: Finding[] = []
  for (const digest of missing) {
    const losses = [
      ...(used.get(digest) ?? []).map((line) => lost(line, digest, false)),
      ...open.filter((line) => line.digest === digest).map((line) => lost(line, digest, true)),
    ]
    found.push(...losses)
    if (losses.length === 0 && !(await mayBeStagedNow(clients, bucket, digest, runs)))
      found.push(remains(bucket, digest))
  }
  return found
}

/** A run that is staging writes its manifest last. */
const mayBeStagedNow = async (clients: Clients, bucket: string, digest: string, runs: readonly Run[] | null) =>
  runs?.length !== 0 && Date.now() - (await newestOf(clients, bucket, digest)) < STAGING_S * 1_000

type Line = Pick<Checks['registered'][number], 'distributor' | 'month' | 'job' | 'digest'>

/** The open jobs with the digests of their sources, which the checks do not tell. */
const openSources = async (clients: Clients, openJobs: Checks['openJobs']): Promise<Line[]> => {
  const found: Line[] = []
  for (const { distributor, month, job } of openJobs) {
    const { jobs } = await clients.inspect({ question: 'slice', distributor, month })
    const digest = jobs.find((each) => each.job === job)?.source.digest
    if (digest !== undefined) found.push({ distributor, month, job, digest })
  }
  return found
}

const lost = ({ distributor, month, job }: Line, digest: string, isOpen: boolean): Finding => ({
  check: 'staged-source-lost',
  severity: 'error',
  what: `The staged source ${digest} of job ${job} (${distributor} ${month}) has no manifest: ${
    isOpen ? 'the job cannot go on.' : 'its rows are registered, but no undo can bring them back.'
  }`,
  mend: `sharelock start ${sliceOptions({ distributor, month })} --file FILE ${isOpen ? '--supersede' : '--force'}`,
  slice: { distributor, month },
})

const remains = (bucket: string, digest: string): Finding => ({
  check: 'half-staged-source',
  severity: 'warning',
  what: `staged/${digest}/ has no manifest: a file was not staged to its end. No open job and no registered slice of these months uses it.`,
  mend: `aws s3 rm --recursive s3://${bucket}/staged/${digest}/`,
  slice: null,
})
