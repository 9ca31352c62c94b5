import type { OperateInput } from '../../../contract/operations.ts'
import type { OperateReply } from '../../../contract/reports.ts'
import type { Run } from '../../task.ts'
import { putDistributor } from './put-distributor.ts'
import { record } from './record.ts'
import { stop } from './stop.ts'
import { unlock } from './unlock.ts'

/** Does one action of contract/operations.ts. */
export const operate = async (run: Run, input: OperateInput): Promise<OperateReply[OperateInput['action']]> => {
  run.logger.info('operating', { request: input })
  switch (input.action) {
    case 'record':
      return await record(run, input)
    case 'stop':
      return await stop(run, input)
    case 'unlock':
      return await unlock(run, input)
    case 'put-distributor':
      return await putDistributor(run, input)
  }
}
