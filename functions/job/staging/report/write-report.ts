import type { S3Client } from '@aws-sdk/client-s3'
import { rejectKey } from '../../../contract/execution.ts'
import { type FileReport, REPORT_FORMS, type ReportForm } from '../../../contract/file-report.ts'
import type { Slice } from '../../../contract/words.ts'
import { putObject } from '../../../store/s3/objects.ts'
import { reportText } from './report-text.ts'

export type ReportPlace = {
  readonly s3: S3Client
  readonly bucket: string
  readonly slice: Slice
  readonly execution: string
}

/**
 * Writes a report in every form; a repetition writes the same keys.
 *
 * @returns where the first of them is, for people
 * @throws Failure StorageUnreachable
 */
export const writeReport = async (
  { s3, bucket, slice, execution }: ReportPlace,
  read: Omit<FileReport, 'version' | 'distributor' | 'month' | 'execution'> & { readonly name: string },
): Promise<string> => {
  const { distributor, month } = slice
  const { name: _, ...found } = read
  const report: FileReport = { version: 1, distributor, month, execution, ...found }
  for (const form of Object.keys(REPORT_FORMS) as ReportForm[])
    await putObject(s3, bucket, rejectKey(slice, execution, form), reportText(form, report), REPORT_FORMS[form])
  return `s3://${bucket}/${rejectKey(slice, execution)}`
}
