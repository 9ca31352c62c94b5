import type { OperateInput } from '../../../contract/operations.ts'
import type { OperateReply } from '../../../contract/replies.ts'
import type { TaskContext } from '../../task.ts'
import { putDistributor } from './put-distributor.ts'
import { record } from './record.ts'
import { setProfile } from './set-profile.ts'
import { stop } from './stop.ts'
import { unlock } from './unlock.ts'
import { withdraw } from './withdraw.ts'

/** Does one action of contract/operations.ts. */
export const operate = async (
  context: TaskContext,
  input: OperateInput,
): Promise<OperateReply[OperateInput['action']]> => {
  context.logger.info('operating', { request: input })
  switch (input.action) {
    case 'record':
      return await record(context, input)
    case 'stop':
      return await stop(context, input)
    case 'unlock':
      return await unlock(context, input)
    case 'withdraw':
      return await withdraw(context, input)
    case 'put-distributor':
      return await putDistributor(context, input)
    case 'set-profile':
      return await setProfile(context, input)
  }
}
