import { ReadHeadInput } from '../contract/messages.ts'
import { readHead } from '../job/read-head.ts'
import { task } from '../job/task.ts'

/** Reads the slice's head where Valkey is out of reach and the run proceeds under the fence alone. Changes nothing. */
export const handler = task('ReadHead', ReadHeadInput, async ({ slice }, context) => {
  context.logger.warn('proceeding without a lock: valkey is out of reach')
  return { head: await readHead(context, slice) }
})
