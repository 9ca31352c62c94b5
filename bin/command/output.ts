import { styleText } from 'node:util'

type Style = 'red' | 'green' | 'yellow' | 'bold' | 'dim'

/** A line that is redrawn in place may not wrap: its last columns are cut. */
const COLUMNS_DEFAULT = 80

/**
 * What the command writes. People read stdout, and a terminal's last line is redrawn in place while something goes on.
 * With `--json`, stdout holds JSON and nothing else, and what people read goes to stderr.
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
    return styleText(style, text, { stream: this.#people })
  }

  /** Lines for people. */
  say(...lines: readonly string[]): void {
    this.#clear()
    this.#people.write(lines.map((line) => `${line}\n`).join(''))
  }

  /** The line that is redrawn in place; nothing where no terminal is. */
  draw(line: string): void {
    if (!this.isTerminal) return
    this.#clear()
    this.#people.write(line.slice(0, (this.#people.columns ?? COLUMNS_DEFAULT) - 1))
    this.#isDrawn = true
  }

  /** Lines that are the command's answer: with `--json` they are left out, for the document says it all. */
  answer(...lines: readonly string[]): void {
    if (!this.json) this.say(...lines)
  }

  /** One JSON document on stdout, with `--json` only. */
  document(value: unknown): void {
    if (this.json) process.stdout.write(`${JSON.stringify(value)}\n`)
  }

  #clear(): void {
    if (this.#isDrawn) this.#people.write('\r\u001b[2K')
    this.#isDrawn = false
  }
}
