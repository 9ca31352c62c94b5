import type { Place } from './place.ts'
import { queryCall } from './signed.ts'

/*
 * What docs/deployments.md has a person do with the AWS CLI between the two stacks, which is not installed here: the same
 * calls.
 */

const DATABASE_API = '2014-10-31'
const CACHE_API = '2015-02-02'

/** Both are named as their stage is. */
const storesOf = (stage: string): string => `sharelock-${stage}`

/** The stores go before their stack: deletion protection off, then both away. */
export const deleteStores = async (place: Place, stage: string): Promise<void> => {
  const instance = { DBInstanceIdentifier: storesOf(stage) }
  const unprotected = { DeletionProtection: 'false', ApplyImmediately: 'true' }
  await queryCall(place, 'rds', DATABASE_API, { Action: 'ModifyDBInstance', ...instance, ...unprotected })
  await queryCall(place, 'rds', DATABASE_API, { Action: 'DeleteDBInstance', ...instance, SkipFinalSnapshot: 'true' })
  const group = { ReplicationGroupId: storesOf(stage) }
  await queryCall(place, 'elasticache', CACHE_API, { Action: 'DeleteReplicationGroup', ...group })
}

export const stopProtecting = async (place: Place, stack: string): Promise<void> => {
  await queryCall(place, 'cloudformation', '2010-05-15', {
    Action: 'UpdateTerminationProtection',
    EnableTerminationProtection: 'false',
    StackName: stack,
  })
}
