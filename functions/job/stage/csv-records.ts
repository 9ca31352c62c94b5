import { type CsvError, type CsvErrorCode, type InfoRecord, parse } from 'csv-parse'
import { refuse, type SourceRule } from '../../contract/source-rules.ts'
import { type SourceErrors, SourceUnreadable } from './source-errors.ts'

/** One record: its fields as they stand in the file, and the physical line on which it begins. */
export type OnRecord = (fields: string[], line: number) => void

/** Thrown by an OnRecord to end reading: what follows would only repeat what is wrong. */
export class EndOfReading extends Error {
  override readonly name = 'EndOfReading'
}

/** Where csv-parse gives up, in the words of the report. Every other code is a defect of ours and is thrown on. */
const RULES_BY_CODE: Partial<Record<CsvErrorCode, SourceRule>> = {
  CSV_MAX_RECORD_SIZE: 'record-length',
  CSV_QUOTE_NOT_CLOSED: 'unclosed-quote',
  INVALID_OPENING_QUOTE: 'stray-quote',
  CSV_INVALID_CLOSING_QUOTE: 'stray-quote',
}

/** A UTF-16 code unit, the unit of a JavaScript string's length, takes at most three UTF-8 bytes. */
const UTF8_BYTES_PER_UNIT = 3

/** The line of the byte after those it has seen; a CR LF is one line break, also where the bytes are cut between. */
class LineCounter {
  line = 1
  #afterCr = false

  count(bytes: Buffer): void {
    // By index: iterating a Buffer takes several times as long, and this sees every byte of the file.
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte === 13 || (byte === 10 && !this.#afterCr)) this.line += 1
      this.#afterCr = byte === 13
    }
  }
}

const lineBreaks = (fields: readonly string[]): number => {
  let count = 0
  for (const field of fields) {
    if (field.includes('\n') || field.includes('\r')) count += field.match(/\r\n|\r|\n/g)?.length ?? 0
  }
  return count
}

const addStructureError = (error: unknown, line: number, errors: SourceErrors): void => {
  const { code, index } = error as Partial<CsvError>
  const rule = code === undefined ? undefined : RULES_BY_CODE[code]
  if (rule === undefined) throw error
  errors.add(refuse(rule, 'the row'), { line, column: Number(index) + 1 }, '')
}

/**
 * Reads CSV (RFC 4180; lines end with CRLF, LF or CR) record by record. Empty lines are skipped. An error of the file's
 * structure ends the reading, since what follows could be read in more than one way; it goes to `errors` with the line
 * on which the record begins. Errors of the source itself are thrown.
 *
 * Lines are counted here: csv-parse counts a CRLF inside quotes twice, and its records end where ours begin.
 */
export const readRecords = async (
  utf8: AsyncIterable<Buffer>,
  recordCharsMax: number,
  errors: SourceErrors,
  onRecord: OnRecord,
): Promise<void> => {
  const decoded = new LineCounter()
  let nextLine = 1
  let emptyLines = 0
  const begin = (skipped: number): number => {
    nextLine += skipped - emptyLines
    emptyLines = skipped
    return nextLine
  }
  const take = (fields: string[], info: InfoRecord): null => {
    const line = begin(info.empty_lines)
    nextLine += 1 + lineBreaks(fields)
    // A line of nothing but spaces is as empty as one without.
    if (fields.length === 1 && fields[0]?.trim() === '') return null
    let chars = 0
    for (const field of fields) chars += field.length
    if (chars > recordCharsMax) errors.add(refuse('record-length', 'the row'), { line }, fields[0] ?? '')
    else onRecord(fields, line)
    return null
  }
  const parser = parse({
    on_record: take,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
    // The exact limit is applied above; this one stops a record that never ends.
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
      decoded.count(bytes)
      if (bytes.length > 0) await written(bytes)
    }
    await written(undefined)
  } catch (error) {
    if (error instanceof EndOfReading) return
    if (error instanceof SourceUnreadable) errors.add(error.refusal, { line: decoded.line }, '')
    else addStructureError(error, begin(parser.info.empty_lines), errors)
  } finally {
    parser.destroy()
  }
}
