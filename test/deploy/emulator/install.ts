import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildOnce } from '../../../local/host/build-once.ts'
import { LOCAL } from '../../../local/host/paths.ts'

const run = promisify(execFile)
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt')
const INSTALL_TIMEOUT_MS = 600_000

/** Python of a virtual environment under .local/ that has the emulator: installed once for each list of packages. */
export const installEmulator = async (say: (line: string) => void): Promise<string> => {
  const recipe = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12)
  const folder = await buildOnce(join(LOCAL, 'emulator', recipe), async (temporary) => {
    say('Installing the emulator into .local/ ...')
    await run('python3', ['-m', 'venv', temporary]).catch((error: unknown) => {
      const cause = error instanceof Error ? error.message : String(error)
      throw new Error(`Python 3.10 or newer with venv is needed (on Debian: apt-get install python3-venv): ${cause}`)
    })
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS]
    await run(join(temporary, 'bin/python'), install, { timeout: INSTALL_TIMEOUT_MS })
  })
  return join(folder, 'bin/python')
}
