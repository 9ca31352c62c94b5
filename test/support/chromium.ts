import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'
import { LOCAL } from '../../local/host/paths.ts'
import { programOnPath } from '../../local/servers/on-path.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

/** The system's own browser: CHROMIUM in the environment, else one on the PATH. */
const findChromium = (): string => {
  const found = process.env.CHROMIUM || NAMES.map(programOnPath).find((path) => path !== undefined)
  if (found) return found
  throw new Error(
    'No Chromium was found. Install it (Debian: apt-get install chromium), or set CHROMIUM to the path of one.',
  )
}

/** It asks nobody for anything but what a test opens; and without the sandbox it also runs as root, as in CI. */
const ARGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export type Browser = { readonly context: BrowserContext; readonly close: () => Promise<void> }

/** Starts a headless browser with a new, empty profile; `close` ends all of its processes and removes the profile. */
export const startBrowser = async (options: BrowserContextOptions = {}): Promise<Browser> => {
  await mkdir(LOCAL, { recursive: true })
  const profile = await mkdtemp(join(LOCAL, 'chromium-'))
  const executablePath = findChromium()
  const context = await chromium.launchPersistentContext(profile, {
    ...options,
    executablePath,
    headless: true,
    chromiumSandbox: false,
    args: ARGS,
  })
  const close = async (): Promise<void> => {
    await context.close()
    await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
  return { context, close }
}
