import { createHash } from 'node:crypto'
import type { S3Client } from '@aws-sdk/client-s3'
import { Failure } from '../../contract/errors.ts'
import type { Manifest } from '../../contract/manifest.ts'
import type { Source, Staged } from '../../contract/messages.ts'
import type { Rejection, SourceError, SourceRules } from '../../contract/source-rules.ts'
import { type Slice, sliceName } from '../../contract/words.ts'
import { readManifest, writeStaged } from '../../store/staged-source.ts'
import { openSource, rejectKey, writeRejectReport } from '../../store/uploaded-source.ts'
import { type StageOptions, stageSource } from './stage-source.ts'

/** Errors repeated in the failure itself; the report holds the others. */
const ERRORS_SHOWN = 3

export type StageContext = {
  readonly s3: S3Client
  readonly bucket: string
  readonly slice: Slice
  readonly rules: SourceRules
  /** The execution's name or ARN; it names the reject report. */
  readonly execution: string
  readonly onProgress?: StageOptions['onProgress']
}

const stagedOf = ({ digest, rows, shareSum, chunks }: Manifest): Staged => ({
  digest,
  rows,
  shareSum,
  chunks: chunks.length,
})

/** Step Functions' execution names are not longer, and neither may a key grow without end. */
const NAME_CHARS_MAX = 80

/** The execution's own name; a digest of the source's key where there is none. */
const reportName = (execution: string, key: string): string => {
  const name = (execution.split(':').at(-1) ?? '').replace(/[^\w-]/g, '_').slice(0, NAME_CHARS_MAX)
  return name === '' ? createHash('sha256').update(key).digest('hex') : name
}

const sentence = (error: SourceError): string => {
  const place = [error.line === null ? '' : `line ${error.line}`, error.column === null ? '' : `column ${error.column}`]
  const where = place.filter((part) => part !== '').join(', ')
  return where === '' ? error.message : `${where}: ${error.message}`
}

const rejected = (context: StageContext, key: string, { total, errors }: Rejection, report: string): Failure => {
  const count = total === 1 ? '1 error' : `${total} errors`
  const shown = errors.slice(0, ERRORS_SHOWN).map(sentence).join('; ')
  const more = total > ERRORS_SHOWN ? `; and ${total - ERRORS_SHOWN} more` : ''
  return new Failure(
    'SourceRejected',
    `${sliceName(context.slice)}: the file ${key} has ${count} and nothing was changed: ${shown}${more}. The report is s3://${context.bucket}/${report}`,
  )
}

/**
 * Makes the staged source of a run: reads an uploaded file to its end, validates it and writes its staged copy, or
 * reads the manifest of a staged source that exists. Repeating it reads again and writes nothing new.
 *
 * @throws Failure SourceMissing, SourceRejected (after writing the report), StagedSourceDamaged, StorageUnreachable
 */
export const stage = async (source: Exclude<Source, { undo: true }>, context: StageContext): Promise<Staged> => {
  const { s3, bucket, slice, rules } = context
  if ('staged' in source) return stagedOf(await readManifest(s3, bucket, source.staged))
  const file = await openSource(s3, bucket, source.key)
  const result = await stageSource(file.bytes, rules, { onProgress: context.onProgress })
  if (result.accepted) {
    const { manifest, body } = result.source
    await writeStaged(s3, bucket, manifest, body)
    return stagedOf(manifest)
  }
  const report = rejectKey(slice.distributor, slice.month, reportName(context.execution, source.key))
  await writeRejectReport(s3, bucket, report, {
    version: 1,
    distributor: slice.distributor,
    month: slice.month,
    key: source.key,
    etag: file.etag,
    execution: context.execution,
    ...result.facts,
    ...result.rejection,
  })
  throw rejected(context, source.key, result.rejection, report)
}
