import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Where `npm run local` leaves the addresses of its stack, and the command finds them: a file of this user and not of a
 * folder, so that nothing that lies in a folder decides where the command goes. See decisions.md, "The local stack is
 * found by a file of its user".
 */
export const localStackFile = ({ XDG_STATE_HOME }: { readonly XDG_STATE_HOME?: string | undefined }): string =>
  join(XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'sharelock', 'local.env')

/** The variable of that file that names the process which keeps the stack up. */
export const LOCAL_STACK_PROCESS = 'SHARELOCK_LOCAL_PROCESS'

/** The stage of every local stack. */
export const LOCAL_STAGE = 'local'
