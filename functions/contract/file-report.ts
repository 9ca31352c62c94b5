import type { HeldRows } from './manifest.ts'
import type { Rejection } from './source-refusals.ts'
import type { Warning } from './warnings.ts'

/** What was read of a file, as its report tells it. */
type ReportedFile = {
  readonly distributor: string
  readonly month: string
  /** The object, and its tag: of one content. */
  readonly key: string
  readonly etag: string
  readonly execution: string
  readonly compressed: boolean
  readonly encoding: string
  readonly records: number
  readonly ignoredColumns: readonly string[]
}

/**
 * The report of a file that was refused, or that is legal and probably a mistake: made to be sent back to its sender. As
 * JSON, CSV and HTML under `rejected/`; the same in each, and in both languages.
 */
export type FileReport = ReportedFile &
  Rejection & {
    readonly version: 1
    readonly warnings: readonly Warning[]
    /** What was left out, since its tracks exceed 100; `lines` are the rows, as a staged object has them. */
    readonly held?: HeldRows & { readonly lines: readonly string[] }
  }

/** The forms of a report, as the ends of their keys. */
export const REPORT_FORMS = { json: 'application/json', csv: 'text/csv', html: 'text/html; charset=utf-8' } as const
export type ReportForm = keyof typeof REPORT_FORMS
