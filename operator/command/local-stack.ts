import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { LOCAL_STACK_PROCESS, LOCAL_STAGE, localStackFile } from '../../functions/contract/local-stack-file.ts'
import { OperationError } from '../operations/operation-error.ts'

type Variables = Record<string, string | undefined>

const isRunning = (pid: number): boolean => {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    // It lives, but is somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** What `npm run local` has written, while it runs. */
const running = (env: Variables): Variables | null => {
  let text: string
  try {
    text = readFileSync(localStackFile(env), 'utf8')
  } catch {
    return null
  }
  const variables = parseEnv(text)
  return isRunning(Number(variables[LOCAL_STACK_PROCESS])) ? variables : null
}

/**
 * Leads the command to the local stack of this user: where the stage is `local`, or where none is named and that stack
 * runs. A stage that is named is never changed, and neither are addresses that are set already.
 *
 * @param env is changed: the AWS SDK reads it by itself
 * @returns whether nobody named the stage, which is worth a word
 * @throws OperationError Unreachable where the stage is `local` and no local stack runs
 */
export const findLocalStack = (env: Variables, named: string | undefined): boolean => {
  if (
    (named !== undefined && named !== LOCAL_STAGE) ||
    (env.AWS_ENDPOINT_URL_LAMBDA ?? env.AWS_ENDPOINT_URL) !== undefined
  )
    return false
  const found = running(env)
  if (found === null && named === LOCAL_STAGE)
    throw new OperationError('Unreachable', 'No local stack runs. Start it, in the checkout: npm run local')
  if (found === null) return false
  // A profile would come before the stack's own credentials, and a session be taken for theirs.
  delete env.AWS_PROFILE
  delete env.AWS_SESSION_TOKEN
  Object.assign(env, found)
  return named === undefined
}
