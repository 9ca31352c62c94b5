import { execFile } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../../local/host/paths.ts'
import { type Place, STAGE } from './place.ts'

const run = promisify(execFile)
const CDK_TIMEOUT_MS = 900_000
const OUTPUT_BYTES_MAX = 64 * 1_024 * 1_024
const TAIL_CHARS = 3_000

type Outputs = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The CDK's own command, on the app of a folder: it fails with the end of what it printed. */
export const cdk = async (place: Place, source: string, args: readonly string[]): Promise<string> => {
  const command = [join(ROOT, 'node_modules/aws-cdk/bin/cdk'), ...args]
  const options = ['--ci', '--output', join(place.folder, 'cdk.out')]
  const env = { ...place.environment, SHARELOCK_STAGE: STAGE }
  const settings = { cwd: source, env, timeout: CDK_TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX }
  try {
    const { stdout, stderr } = await run(process.execPath, [...command, ...options], settings)
    appendFileSync(join(place.folder, 'cdk.log'), stdout + stderr)
    return stdout + stderr
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    appendFileSync(join(place.folder, 'cdk.log'), stdout + stderr)
    throw new Error(`cdk ${args.join(' ')} failed:\n${(stdout + stderr).slice(-TAIL_CHARS)}`, { cause: error })
  }
}

/** Deploys stacks and reads their outputs, those for other stacks included. */
export const deploy = async (place: Place, source: string, stacks: readonly string[]): Promise<Outputs> => {
  const file = join(place.folder, 'outputs.json')
  await cdk(place, source, ['deploy', ...stacks, '--require-approval', 'never', '--outputs-file', file])
  return JSON.parse(readFileSync(file, 'utf8')) as Outputs
}
