import { Duration } from 'aws-cdk-lib'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { Trigger } from 'aws-cdk-lib/triggers'
import type { Construct } from 'constructs'

/** Lambda's ceiling; longer than the migrator's own timeout, or the call is repeated while the first still runs. */
export const TRIGGER_TIMEOUT_S = 900

/**
 * Runs the migrator during the deployment whenever its code changed, and before anything starts work with the new code.
 * A migration that fails fails the deployment. A rollback calls the older migrator, which finds a newer schema and does
 * nothing.
 */
export const addMigration = (scope: Construct, migrate: LambdaFunction, gated: readonly Construct[]): Trigger =>
  new Trigger(scope, 'Migration', {
    handler: migrate,
    timeout: Duration.seconds(TRIGGER_TIMEOUT_S),
    executeBefore: [...gated],
  })
