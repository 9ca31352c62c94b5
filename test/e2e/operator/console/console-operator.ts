import type { Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { type ConsoleOptions, type RunningConsole, startConsole } from '../../../../operator/console/server.ts'
import { createOperations } from '../../../../operator/create-operations.ts'
import { type Browser, startBrowser } from '../../../support/chromium.ts'
import type { Said } from '../../../support/secret-search.ts'
import type { ShareFile } from '../../../support/share-file.ts'
import type { TestSlice, TestStack } from '../../../support/test-stack.ts'
import { homeOf } from './home.ts'

const WAIT_MS = 90_000

export type Choice = Pick<ConsoleOptions, 'uploadBytesMax'> & { readonly locale?: string }

/** Somebody at a browser with the console of a local stack open, and everything the browser did that it should not. */
export class ConsoleOperator {
  readonly page: Page
  readonly origin: string
  /** Where its pages lie. */
  readonly home: string
  /** The address that was printed; it has been used. */
  readonly url: string
  /** Where the console keeps uploads. */
  readonly folder: string
  readonly #console: RunningConsole
  readonly #browser: Browser
  /** Requests to anywhere but the console, errors of scripts, and what the content security policy refused. */
  readonly misdeeds: string[] = []

  private constructor(page: Page, console: RunningConsole, browser: Browser, told: Said[]) {
    this.page = page
    this.url = console.url
    this.folder = console.folder
    this.origin = new URL(console.url).origin
    this.home = homeOf(console.url)
    this.#console = console
    this.#browser = browser
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== this.origin) this.misdeeds.push(`request to ${request.url()}`)
    })
    page.on('pageerror', (error) => this.misdeeds.push(`error: ${error.message}`))
    page.on('dialog', (dialog) => {
      this.misdeeds.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('response', (response) => {
      // A page that is left before it has come tells nothing.
      if (/html|json/.test(response.headers()['content-type'] ?? ''))
        response.text().then(
          (text) => told.push({ where: response.url(), text }),
          () => undefined,
        )
    })
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) this.misdeeds.push(message.text())
    })
  }

  static async start(on: TestStack, { locale = 'en-US', ...options }: Choice = {}): Promise<ConsoleOperator> {
    // The AWS SDK takes its endpoints and credentials from here, as in an operator's shell.
    Object.assign(process.env, on.stack.environment)
    const console = await startConsole({ ...options, operations: createOperations(process.env) })
    const browser = await startBrowser({ locale, viewport: { width: 1_280, height: 900 } })
    const page = browser.context.pages()[0] ?? (await browser.context.newPage())
    const operator = new ConsoleOperator(page, console, browser, on.told)
    // Two busy cores: everything comes, sometimes late.
    page.setDefaultTimeout(WAIT_MS)
    await page.goto(console.url)
    await page.getByRole('button').click()
    await page.waitForURL(`${operator.home}/`)
    return operator
  }

  async open(path: string): Promise<void> {
    await this.page.goto(`${this.home}${path}`)
  }

  async openSlice({ distributor, month }: TestSlice): Promise<void> {
    await this.open(`/slices/${distributor}/${month}`)
  }

  /** Fills in the form and has the file checked; the page that asks for the confirmation follows. */
  async check(
    { distributor, month }: TestSlice,
    file: Pick<ShareFile, 'csv'> | { readonly key: string },
  ): Promise<void> {
    await this.open(`/start?distributor=${distributor}&month=${month}`)
    if ('key' in file) await this.page.getByLabel('Or an uploaded object').fill(file.key)
    else
      await this.page
        .getByLabel('File on this computer')
        .setInputFiles({ name: '정산.csv', mimeType: 'text/csv', buffer: Buffer.from(file.csv) })
    await this.press('Check the file')
  }

  async press(name: string): Promise<void> {
    await this.#telling(this.page.locator('main').getByRole('button', { name, exact: true }).click())
  }

  async follow(name: string): Promise<void> {
    await this.page.locator('main').getByRole('link', { name, exact: true }).click()
  }

  /** Waits until the page says so by itself. */
  async see(text: string | RegExp): Promise<void> {
    await this.#telling(this.page.locator('main').getByText(text).first().waitFor())
  }

  /** Waits for the status at the top of a slice's page, e.g. `settled REGISTERED`. */
  async status(text: string): Promise<void> {
    await this.#telling(this.page.locator('#status').getByText(text).waitFor())
  }

  /** What is in an element, or on the page below its frame; white space is one blank. */
  async text(selector = 'main'): Promise<string> {
    return ((await this.page.locator(selector).textContent()) ?? '').replaceAll(/\s+/g, ' ').trim()
  }

  /** What the element with the focus is called in its form, or says. */
  async focused(): Promise<string> {
    const name = await this.page.evaluate<string>(
      'document.activeElement.getAttribute("name") ?? document.activeElement.textContent',
    )
    return name.trim()
  }

  /** Presses Tab until the element is reached. */
  async tabTo(name: string): Promise<void> {
    for (let presses = 0; presses < 100; presses++) {
      await this.page.keyboard.press('Tab')
      if ((await this.focused()) === name) return
    }
    throw new Error(`The Tab key does not lead to ${name}`)
  }

  /** What was waited for and did not come is best explained by what the page says instead. */
  async #telling(what: Promise<void>): Promise<void> {
    try {
      await what
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\nThe page says: ${await this.text()}`)
    }
  }

  async close(): Promise<void> {
    await this.#browser.close()
    await this.#console.close()
  }
}

/** Starts a console and a browser before the file's tests and ends both after them. */
export const useConsole = (on: () => TestStack, choice: Choice = {}): (() => ConsoleOperator) => {
  let running: ConsoleOperator | undefined
  beforeAll(async () => {
    running = await ConsoleOperator.start(on(), choice)
  })
  afterAll(() => running?.close())
  return () => {
    if (running === undefined) throw new Error('The console does not run yet')
    return running
  }
}
