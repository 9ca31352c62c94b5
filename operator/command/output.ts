import { randomInt } from 'node:crypto'
import { styleText } from 'node:util'
import { visible, visibleJson } from '../../functions/contract/visible.ts'

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

/**
 * What the command writes. People read stdout, and a terminal's last line is redrawn in place while something goes on.
 * With `--json`, stdout holds JSON and nothing else, and what people read goes to stderr.
 *
 * Texts of files and people end up here: each line is written as one line, and what would steer a terminal is shown by
 * its code point.
 */
export class Output {
  readonly json: boolean
  readonly #people: NodeJS.WriteStream
  #isDrawn = false

  constructor(json: boolean) {
    this.json = json
    this.#people = json ? process.stderr : process.stdout
  }

  /** Whether lines can be redrawn in place. */
  get isTerminal(): boolean {
    return this.#people.isTTY === true
  }

  /** Colour only where a terminal shows it and NO_COLOR does not forbid it. */
  style(style: Style, text: string): string {
    return `${MARK}${STYLES.indexOf(style)}${text}${MARK}`
  }

  #written(line: string): string {
    return line
      .split(MARK)
      .map((part, index) => {
        const style = index % 2 === 1 ? STYLES[Number(part[0])] : undefined
        return style === undefined ? visible(part) : styleText(style, visible(part.slice(1)), { stream: this.#people })
      })
      .join('')
  }

  /** Lines for people. */
  say(...lines: readonly string[]): void {
    this.#clear()
    this.#people.write(lines.map((line) => `${this.#written(line)}\n`).join(''))
  }

  /** The line that is redrawn in place; nothing where no terminal is. */
  draw(line: string): void {
    if (!this.isTerminal) return
    this.#clear()
    this.#people.write(visible(line).slice(0, (this.#people.columns ?? COLUMNS_DEFAULT) - 1))
    this.#isDrawn = true
  }

  /** Lines that are the command's answer: with `--json` they are left out, for the document says it all. */
  answer(...lines: readonly string[]): void {
    if (!this.json) this.say(...lines)
  }

  /** One JSON document on stdout, with `--json` only. */
  document(value: unknown): void {
    if (this.json) process.stdout.write(`${visibleJson(value)}\n`)
  }

  #clear(): void {
    if (this.#isDrawn) this.#people.write('\r\u001b[2K')
    this.#isDrawn = false
  }
}
