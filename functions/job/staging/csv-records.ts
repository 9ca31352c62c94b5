import { type CsvError, type CsvErrorCode, type InfoRecord, parse } from 'csv-parse'
import { refuse, type SourceRule } from '../../contract/source-refusals.ts'
import { SourceUnreadable } from './containers/source-unreadable.ts'
import { LineCounter, lineBreaks } from './line-counter.ts'
import { EndOfReading, type OnRecord } from './record-reader.ts'
import type { SourceErrors } from './source-errors.ts'

/** What one record may have, and how many blank lines a file. */
export type RecordLimits = {
  readonly recordCharsMax: number
  readonly columnsMax: number
  readonly blankLinesFree: number
  readonly blankLinesPerRecord: number
}

/** How records are written. */
type RecordForm = RecordLimits & {
  /** What separates two values. */
  readonly delimiter: string
}

/** Where csv-parse gives up, in the words of the report. Every other code is a defect of ours and is thrown on. */
const RULES_BY_CODE: Partial<Record<CsvErrorCode, SourceRule>> = {
  CSV_MAX_RECORD_SIZE: 'record-length',
  CSV_QUOTE_NOT_CLOSED: 'unclosed-quote',
  INVALID_OPENING_QUOTE: 'stray-quote',
  CSV_INVALID_CLOSING_QUOTE: 'stray-quote',
}

/**
 * A UTF-16 code unit, the unit of a JavaScript string's length, takes at most three UTF-8 bytes; a doubled quote two.
 */
const UTF8_BYTES_PER_UNIT = 3

/** Two quotes around a value and the comma behind it. */
const BYTES_AROUND_FIELD = 3

const addStructureError = (error: unknown, line: number, errors: SourceErrors): void => {
  const { code, index } = error as Partial<CsvError>
  const rule = code === undefined ? undefined : RULES_BY_CODE[code]
  if (rule === undefined) throw error
  errors.add(refuse(rule, 'the row'), { line, column: Number(index) + 1 }, '')
}

/**
 * Reads CSV (RFC 4180 with any delimiter; lines end with CRLF, LF or CR) record by record. Blank lines are skipped and counted. An error
 * of the file's structure ends the reading, since what follows could be read in more than one way; it goes to `errors`
 * with the line on which the record begins. So does too much of anything: blank lines, errors. Errors of the source
 * itself are thrown.
 *
 * Lines are counted here: csv-parse counts a CRLF inside quotes twice, and its records end where ours begin.
 */
export const readRecords = async (
  utf8: AsyncIterable<Buffer>,
  form: RecordForm,
  errors: SourceErrors,
  onRecord: OnRecord,
): Promise<void> => {
  const { delimiter, recordCharsMax, columnsMax, blankLinesFree, blankLinesPerRecord } = form
  const decoded = new LineCounter(recordCharsMax * UTF8_BYTES_PER_UNIT + columnsMax * BYTES_AROUND_FIELD)
  let nextLine = 1
  let emptyLines = 0
  let spaceLines = 0
  let records = 0
  const begin = (skipped: number): number => {
    nextLine += skipped - emptyLines
    emptyLines = skipped
    return nextLine
  }
  const endAt = (rule: SourceRule, what: string, line: number): never => {
    errors.add(refuse(rule, what), { line }, '')
    throw new EndOfReading()
  }
  const boundBlankLines = (skipped: number): void => {
    if (skipped + spaceLines > blankLinesFree + records * blankLinesPerRecord)
      endAt('blank-lines', 'the file', begin(skipped))
  }
  const take = (fields: string[], info: InfoRecord): null => {
    // csv-parse takes the first record's width for the rule and builds an Error with a stack for each record of another
    // one, whatever `relax_column_count` says. Before a first record it has no rule, and the width is judged by
    // OnRecord.
    ;(parser.info as { records: number }).records = 0
    const line = begin(info.empty_lines)
    nextLine += 1 + lineBreaks(fields)
    // A line of nothing but spaces is as blank as an empty one.
    if (fields.length === 1 && fields[0]?.trim() === '') {
      spaceLines += 1
      boundBlankLines(info.empty_lines)
      return null
    }
    records += 1
    let chars = 0
    for (const field of fields) chars += field.length
    if (chars > recordCharsMax || fields.length > columnsMax)
      errors.add(refuse('record-length', 'the row'), { line }, fields[0] ?? '')
    else onRecord(fields, line)
    if (!errors.isFull) return null
    errors.stoppedAtLine = line
    throw new EndOfReading()
  }
  const parser = parse({
    on_record: take,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
    // The exact limit is applied above; this one stops a record that never ends. It counts no commas: LineCounter does.
    max_record_size: recordCharsMax * UTF8_BYTES_PER_UNIT,
  })
  // A listener must exist; the error itself arrives at the write's callback.
  parser.on('error', () => undefined)
  // The parser pushes no record, but its end is only reached by a stream that is read.
  parser.resume()
  const written = (bytes: Buffer | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (error?: Error | null): void => (error ? reject(error) : resolve())
      if (bytes === undefined) parser.end(settle)
      else parser.write(bytes, settle)
    })
  try {
    for await (const bytes of utf8) {
      const length = decoded.count(bytes)
      if (length > 0) await written(bytes.subarray(0, length))
      if (length < bytes.length) endAt('record-length', 'the row', begin(parser.info.empty_lines))
      boundBlankLines(parser.info.empty_lines)
    }
    await written(undefined)
    // One less: the end of a file behind a line break counts as an empty line there.
    boundBlankLines(parser.info.empty_lines - 1)
  } catch (error) {
    if (error instanceof EndOfReading) return
    if (error instanceof SourceUnreadable) errors.endAt(error.refusal, decoded.line)
    else addStructureError(error, begin(parser.info.empty_lines), errors)
  } finally {
    parser.destroy()
  }
}
