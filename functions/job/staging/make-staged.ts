import type { S3Client } from '@aws-sdk/client-s3'
import { Failure } from '../../contract/failures.ts'
import type { FileReport } from '../../contract/file-report.ts'
import { type Manifest, manifestKey } from '../../contract/manifest.ts'
import type { Source, Staged } from '../../contract/messages.ts'
import { count, counted } from '../../contract/numbers.ts'
import { LINE_END } from '../../contract/row-format.ts'
import { lineAndColumn, type SourceError, type SourceRules } from '../../contract/source-refusals.ts'
import { type Slice, sliceName } from '../../contract/words.ts'
import type { StoredProfile } from '../../store/profile.ts'
import { isPartsKey } from '../../store/s3/descriptor.ts'
import { openParts } from '../../store/s3/parts.ts'
import { readChunks, readHeld, readManifest, stagedDamaged } from '../../store/s3/staged.ts'
import { openSource } from '../../store/s3/uploaded.ts'
import { writeStaged } from '../../store/s3/write-staged.ts'
import { confirmWarnings, type WarningPolicy } from './confirm-warnings.ts'
import type { StagedSource } from './cut-chunks.ts'
import { judgeStaged } from './judge-staged.ts'
import { readParts } from './read-parts.ts'
import { type ReadOptions, type ReadResult, readSource } from './read-source.ts'
import { writeReport } from './report/write-report.ts'

/** Errors repeated in the failure itself; the report holds the others. */
const ERRORS_SHOWN = 3

export type StagingContext = {
  readonly s3: S3Client
  readonly bucket: string
  readonly slice: Slice
  readonly rules: SourceRules
  /** How the distributor writes its files; a staged source was read once and for all. */
  readonly profile: StoredProfile
  readonly policy: WarningPolicy
  /** The execution's name or ARN; it names the report of a refused file. */
  readonly execution: string
  readonly onProgress?: ReadOptions['onProgress']
  /** Smaller ones where there is less memory. */
  readonly limits?: ReadOptions['limits']
}

const stagedOf = ({ digest, rows, shareSum, chunks, held }: Manifest): Staged => ({
  digest,
  rows,
  shareSum,
  chunks: chunks.length,
  ...(held && { held }),
})

const sentence = (error: SourceError): string => {
  const where = lineAndColumn(error)
  return where === '' ? error.message : `${where}: ${error.message}`
}

/** What was read: its place in the bucket, and how a sentence calls it. */
type Read = { readonly key: string; readonly etag: string; readonly name: string }

type Rejected = Extract<ReadResult, { accepted: false }>

/** Writes the report of a refused source. @returns the failure that names it and repeats its first errors */
const reject = async (context: StagingContext, read: Read, { facts, rejection }: Rejected): Promise<Failure> => {
  const { total, errors, stoppedAtLine } = rejection
  const where = await writeReport(context, { ...read, ...facts, ...rejection, warnings: [] })
  const errorsText = counted(total, 'error')
  const found =
    stoppedAtLine === null ? errorsText : `${errorsText} up to line ${count(stoppedAtLine)}, where reading stopped,`
  const shown = errors.slice(0, ERRORS_SHOWN).map(sentence).join('; ')
  const more = total > ERRORS_SHOWN ? `; and ${count(total - ERRORS_SHOWN)} more` : ''
  return new Failure(
    'SourceRejected',
    `${sliceName(context.slice)}: ${read.name} has ${found} and nothing was changed: ${shown}${more}. The report is ${where}`,
  )
}

type Accepted = Extract<ReadResult, { accepted: true }>

/** What the report lists of rows that were left out. */
const heldReport = ({ manifest: { held }, heldBody }: StagedSource): Pick<FileReport, 'held'> =>
  held === undefined || heldBody === null
    ? {}
    : { held: { ...held, lines: heldBody.toString('latin1').trimEnd().split(LINE_END) } }

/** @throws Failure WarningsUnconfirmed */
const letThrough = async (
  context: StagingContext,
  read: Read,
  { facts, source, warnings }: Accepted,
): Promise<void> => {
  const { digest, rows } = source.manifest
  const judged = { digest, rows, warnings, etag: read.etag, name: read.name, hasHeldRows: source.heldBody !== null }
  await confirmWarnings(context.slice, judged, context.policy, (found) =>
    writeReport(context, {
      ...read,
      ...facts,
      total: 0,
      errors: [],
      stoppedAtLine: null,
      warnings: found,
      ...heldReport(source),
    }),
  )
}

/** A file as a sentence calls it, with the profile it was read by: whoever knows another one finds the fault there. */
const nameOf = (key: string, { version }: StoredProfile): string =>
  version === 0 ? `the file ${key}` : `the file ${key}, read by version ${version} of its profile,`

const TOTALS = ['rows', 'shareSum', 'tracks', 'parties'] as const

/** Reads a set that is staged already: every object of it, judged by today's rules. */
const checkStaged = async (digest: string, context: StagingContext): Promise<Staged> => {
  const { s3, bucket, rules, onProgress } = context
  const manifest = await readManifest(s3, bucket, digest)
  const result = await judgeStaged(readChunks(s3, bucket, manifest), rules, { onProgress })
  const key = manifestKey(digest)
  const name = `the staged source ${digest}, judged by the distributor's rules of today,`
  const read = { key, etag: '', name }
  if (!result.accepted) throw await reject(context, read, result)
  const found = result.source.manifest
  const differs = TOTALS.find((total) => found[total] !== manifest[total])
  if (differs === undefined) {
    if (manifest.held !== undefined) await readHeld(s3, bucket, digest, manifest.held)
    await letThrough(context, read, result)
    return stagedOf(manifest)
  }
  throw stagedDamaged(key, `promises ${manifest[differs]} as its ${differs}, its objects come to ${found[differs]}`)
}

/**
 * Makes the staged source of a run: reads an uploaded file to its end, validates it and writes its staged copy, or
 * reads all of a staged source that exists. In both cases every object is there with the right content when it returns.
 * Repeating it reads again and writes only what is missing or damaged.
 *
 * @throws Failure SourceMissing, SourceRejected and WarningsUnconfirmed (after writing the report), StagedSourceDamaged, StorageUnreachable
 */
export const makeStaged = async (source: Exclude<Source, { undo: true }>, context: StagingContext): Promise<Staged> => {
  const { s3, bucket, rules, profile: stored } = context
  if ('staged' in source) return await checkStaged(source.staged, context)
  const options = {
    profile: stored.profile,
    onProgress: context.onProgress,
    limits: context.limits ?? {},
    month: context.slice.month,
  }
  const key = 'parts' in source ? source.parts : source.key
  const { etag, result } =
    'parts' in source || isPartsKey(key)
      ? await openParts(s3, bucket, key).then(async (file) => ({
          etag: file.etag,
          result: await readParts(file.parts, rules, options),
        }))
      : await openSource(s3, bucket, key).then(async (file) => ({
          etag: file.etag,
          result: await readSource(file.bytes, rules, options),
        }))
  const read = { key, etag, name: nameOf(key, stored) }
  if (!result.accepted) throw await reject(context, read, result)
  await letThrough(context, read, result)
  const { manifest, body, heldBody } = result.source
  await writeStaged(s3, bucket, manifest, body, heldBody)
  return { ...stagedOf(manifest), profile: stored.version }
}
