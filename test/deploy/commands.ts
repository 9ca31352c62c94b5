import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../../local/host/paths.ts'
import { type Place, STAGE } from './place.ts'

const run = promisify(execFile)
const COMMAND_TIMEOUT_MS = 300_000

/** One of the project's own commands, as a person gives it who has credentials of the account. */
export const command = async (
  place: Place,
  file: 'sharelock' | 'smoke',
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const env = { ...place.environment, SHARELOCK_STAGE: STAGE, ...more }
  try {
    const { stdout } = await run(process.execPath, [join(ROOT, `bin/${file}.ts`), ...args], {
      ...{ env, cwd: ROOT, timeout: COMMAND_TIMEOUT_MS },
    })
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${file} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}
