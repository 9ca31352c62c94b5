import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { lastMonth } from '../../../../../functions/contract/months.ts'
import { ROOT } from '../../../../../local/host/paths.ts'
import { startConsole } from '../../../../../operator/console/server.ts'
import { startBrowser } from '../../../../support/chromium.ts'
import { homeOf } from '../home.ts'
import { startDemo } from './months.ts'

/**
 * `node test/e2e/operator/console/screenshots/screenshots.ts` writes the pictures of the README into docs/screenshots: a local stack is filled
 * with half a year of months, one of them running, one halted and one late, and looked at with the system's Chromium.
 */
const FOLDER = join(ROOT, 'docs', 'screenshots')
const BYTES_MAX = 200_000
const WIDE = { width: 1_280, height: 720 }
const PHONE = { width: 390, height: 844 }

type Picture = {
  readonly name: string
  readonly path: string
  readonly scheme: 'light' | 'dark'
  readonly language: 'en' | 'ko'
  readonly viewport: typeof WIDE
}

/** Squares of the second map that are full when the pictures are taken: about half of them. */
const SQUARES_FULL = 20
const WAIT_MS = 300_000

const take = async (page: Page, home: string, picture: Picture): Promise<void> => {
  const { name, path, scheme, language, viewport } = picture
  await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme: scheme })
  await page.goto(`${home}${path}?lang=${language}`)
  const file = join(FOLDER, `${name}.png`)
  await page.screenshot({ path: file, fullPage: true })
  const { size } = await stat(file)
  if (size > BYTES_MAX) throw new Error(`${file} has ${size} bytes; a picture has at most ${BYTES_MAX}`)
  console.log(`${file}  ${Math.round(size / 1_000)} kB`)
}

const main = async (): Promise<void> => {
  await mkdir(FOLDER, { recursive: true })
  const demo = await startDemo(lastMonth())
  const served = await startConsole({ operations: demo.operations })
  const browser = await startBrowser()
  try {
    const page = browser.context.pages()[0] ?? (await browser.context.newPage())
    const home = homeOf(served.url)
    await page.goto(served.url)
    await page.getByRole('button').click()
    await page.waitForURL(`${home}/`)
    // Looked at while it runs: the speed is that of several looks.
    const { distributor, month } = demo.halted
    const job = `/slices/ARIA/${month}`
    await page.goto(`${home}${job}`)
    await demo.startLarge()
    await page.locator('#status', { hasText: 'REGISTERING' }).waitFor({ timeout: WAIT_MS })
    await page
      .locator('.register .map .q4')
      .nth(SQUARES_FULL - 1)
      .waitFor({ timeout: WAIT_MS })
    const [light, dark] = ['light', 'dark'] as const
    await take(page, home, { name: 'job-light', path: job, scheme: light, language: 'en', viewport: WIDE })
    await take(page, home, { name: 'job-dark', path: job, scheme: dark, language: 'ko', viewport: WIDE })
    await take(page, home, { name: 'job-phone', path: job, scheme: light, language: 'ko', viewport: PHONE })
    await take(page, home, { name: 'overview-light', path: '/', scheme: light, language: 'en', viewport: WIDE })
    await take(page, home, { name: 'overview-dark', path: '/', scheme: dark, language: 'ko', viewport: WIDE })
    const halted = `/slices/${distributor}/${month}`
    await take(page, home, { name: 'halted-light', path: halted, scheme: light, language: 'en', viewport: WIDE })
  } finally {
    await browser.close()
    await served.close()
    await demo.stop()
  }
}

await main()
// A run that was left half done may wait for ever.
process.exit(0)
