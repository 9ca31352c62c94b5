import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { rejectKey } from '../../functions/contract/execution.ts'
import type { ReportForm } from '../../functions/contract/file-report.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { readObject } from '../../functions/store/s3/objects.ts'
import type { Clients } from './clients.ts'
import { calling } from './failures.ts'
import { sizeOf } from './objects.ts'
import { OperationError } from './operation-error.ts'

/** A report that a run wrote, in one of its forms. */
export type WrittenReport = { readonly key: string; readonly text: string }

const missing = (slice: SliceName, which: string): OperationError =>
  new OperationError(
    'NotFound',
    `${sliceName(slice)} has no report${which}: a run writes one where it refuses a file or finds warnings, and it is kept for some months.`,
  )

/**
 * The report of an execution, or the newest of the slice.
 *
 * @throws OperationError NotFound
 */
export const reportOf = async (
  clients: Clients,
  slice: SliceName,
  form: ReportForm,
  execution?: string,
): Promise<WrittenReport> => {
  const { bucket } = await clients.deployment()
  const key = execution === undefined ? await newestOf(clients, slice, form) : rejectKey(slice, execution, form)
  if (execution !== undefined && (await sizeOf(clients, key)) === null) throw missing(slice, ` of ${execution}`)
  return { key, text: (await calling('S3', () => readObject(clients.s3, bucket, key))).toString() }
}

const newestOf = async ({ s3, deployment }: Clients, slice: SliceName, form: ReportForm): Promise<string> => {
  const { bucket } = await deployment()
  const prefix = `rejected/${slice.distributor}/${slice.month}/`
  let newest: { readonly key: string; readonly at: number } | undefined
  let ContinuationToken: string | undefined
  do {
    const page = await calling('S3', () =>
      s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken })),
    )
    for (const { Key: key = '', LastModified } of page.Contents ?? []) {
      const at = LastModified?.getTime() ?? 0
      if (key.endsWith(`.${form}`) && (newest === undefined || at > newest.at)) newest = { key, at }
    }
    ContinuationToken = page.NextContinuationToken
  } while (ContinuationToken !== undefined)
  if (newest === undefined) throw missing(slice, '')
  return newest.key
}
