import { randomInt } from 'node:crypto'
import { styleText } from 'node:util'
import { csvCell } from '../../functions/contract/csv-cell.ts'
import { visible, visibleJson } from '../../functions/contract/visible.ts'
import type { Format } from './formats.ts'

const STYLES = ['red', 'green', 'yellow', 'bold', 'dim'] as const
type Style = (typeof STYLES)[number]

/**
 * Is around a styled text until it is written, with the number of its style behind the first one: colours are put in
 * after everything in the text was made visible, so no value of a file can bring its own. Private use, and another one
 * in each process, for a value could hold it too.
 */
const MARK = String.fromCodePoint(0x100000 + randomInt(0xff00))

/** A line that is redrawn in place may not wrap: its last columns are cut. */
const COLUMNS_DEFAULT = 80

/** Node 20's styleText asks no stream. NO_COLOR forbids colours whatever its value is, unless it is empty. */
const coloured = (style: Style, text: string, stream: NodeJS.WriteStream): string => {
  const shows = stream.isTTY === true && stream.hasColors() && (process.env.NO_COLOR ?? '') === ''
  return shows ? styleText(style, text) : text
}

/** A field of a record as a cell: what has fields of its own is written as JSON. */
const cellOf = (value: unknown): string | number | null => {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'number') return value
  return typeof value === 'boolean' ? String(value) : JSON.stringify(value)
}

/**
 * What the command writes. Answers go to stdout, and progress to stderr, where a terminal's last line is redrawn in place
 * while something goes on. With JSON or CSV, stdout holds that and nothing else, and all that people read is on stderr.
 *
 * Texts of files and people end up here: each line is written as one line, and what would steer a terminal is shown by
 * its code point.
 */
export class Output {
  readonly json: boolean
  readonly isQuiet: boolean
  readonly #format: Format
  readonly #people: NodeJS.WriteStream
  #isDrawn = false

  constructor(format: Format, isQuiet = false) {
    this.json = format === 'json'
    this.isQuiet = isQuiet
    this.#format = format
    this.#people = format === 'table' ? process.stdout : process.stderr
  }

  /** Whether progress can be redrawn in place. */
  get isTerminal(): boolean {
    return process.stderr.isTTY === true
  }

  /** Of the terminal that progress is drawn on. */
  get columns(): number {
    return process.stderr.columns ?? COLUMNS_DEFAULT
  }

  /** Colour only where a terminal shows it and NO_COLOR does not forbid it. */
  style(style: Style, text: string): string {
    return `${MARK}${STYLES.indexOf(style)}${text}${MARK}`
  }

  #written(line: string, stream: NodeJS.WriteStream): string {
    return line
      .split(MARK)
      .map((part, index) => {
        const style = index % 2 === 1 ? STYLES[Number(part[0])] : undefined
        return style === undefined ? visible(part) : coloured(style, visible(part.slice(1)), stream)
      })
      .join('')
  }

  /** Lines for people. */
  say(...lines: readonly string[]): void {
    this.#clear()
    this.#people.write(lines.map((line) => `${this.#written(line, this.#people)}\n`).join(''))
  }

  /** A line of progress, which `--quiet` leaves out. */
  note(line: string): void {
    if (this.isQuiet) return
    this.#clear()
    process.stderr.write(`${this.#written(line, process.stderr)}\n`)
  }

  /** The line that is redrawn in place; nothing where no terminal is. */
  draw(line: string): void {
    if (!this.isTerminal || this.isQuiet) return
    this.#clear()
    process.stderr.write(visible(line).slice(0, this.columns - 1))
    this.#isDrawn = true
  }

  /** Lines that are the command's answer: left out where a document says it all. */
  answer(...lines: readonly string[]): void {
    if (this.#format === 'table') this.say(...lines)
  }

  /** A list as CSV on stdout, a column for each field of its records, with `--format csv` only. */
  records(fields: readonly string[], records: readonly object[]): void {
    if (this.#format !== 'csv') return
    const line = (record: object): string =>
      fields.map((field) => csvCell(cellOf((record as Readonly<Record<string, unknown>>)[field]))).join(',')
    process.stdout.write([fields.join(','), ...records.map(line)].map((text) => `${text}\r\n`).join(''))
  }

  /** One JSON document on stdout, with `--json` only. */
  document(value: unknown): void {
    if (this.json) process.stdout.write(`${visibleJson(value)}\n`)
  }

  #clear(): void {
    if (this.#isDrawn) process.stderr.write('\r\u001b[2K')
    this.#isDrawn = false
  }
}
