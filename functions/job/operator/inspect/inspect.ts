import { readDeployment } from '../../../contract/deployment-env.ts'
import type { InspectInput } from '../../../contract/operations.ts'
import type { InspectReply } from '../../../contract/replies.ts'
import { activeSet } from '../../../store/active-set.ts'
import { auditLines } from '../../../store/audit.ts'
import { allDistributors, findDistributor } from '../../../store/distributor.ts'
import { reading } from '../../../store/mysql/transaction.ts'
import { neighboursOf } from '../../../store/neighbours.ts'
import { profileReport } from '../../../store/profile.ts'
import { totalsOf } from '../../../store/share-ratio.ts'
import { warnedFiles } from '../../../store/warned.ts'
import type { TaskContext } from '../../task.ts'
import { checks } from './checks.ts'
import { shownSet } from './shown-set.ts'
import { jobReportOf, sliceReport } from './slice.ts'
import { slices } from './slices.ts'

/**
 * The answer to a question of contract/operations.ts.
 *
 * @param environment of the function, which says where everything is
 * @throws Failure UnknownDistributor, UnknownJob, InvalidInput
 */
export const inspect = async (
  context: TaskContext,
  input: InspectInput,
  environment: Record<string, string | undefined>,
): Promise<InspectReply[InspectInput['question']]> => {
  const { database } = context
  switch (input.question) {
    case 'deployment':
      return readDeployment(environment)
    case 'slices':
      return await slices(context, input)
    case 'warned':
      return await reading(database, (reader) => warnedFiles(reader, input))
    case 'slice':
      return await sliceReport(context, input)
    case 'job':
      return await jobReportOf(context, input.job)
    case 'rows':
      return await reading(database, async (reader) => {
        const { id } = await findDistributor(reader, input.distributor)
        const slice = { distributorId: id, month: input.month }
        return await totalsOf(reader, { ...slice, slot: (await activeSet(reader, slice))?.slot ?? 0 })
      })
    case 'set':
      return await shownSet(context, input)
    case 'neighbours':
      return await reading(database, async (reader) => {
        const { id } = await findDistributor(reader, input.distributor)
        return await neighboursOf(reader, { ...input, distributorId: id }, input.digest)
      })
    case 'distributors':
      return await reading(database, (reader) => allDistributors(reader))
    case 'profile':
      return await reading(database, (reader) => profileReport(reader, input.distributor, input.version))
    case 'audit':
      return await reading(database, (reader) => auditLines(reader, input))
    case 'checks':
      return await checks(context, input)
  }
}
