import type { App } from 'aws-cdk-lib'
import { type Bundles, bundleHandlers } from './bundles.ts'
import { stageConfig } from './config.ts'
import { JobStack } from './job-stack.ts'
import { localStores } from './stores.ts'

/** The stage to synthesise: `-c stage=...`, else SHARELOCK_STAGE, else `local`. */
export const stageOf = (app: App, environment: Record<string, string | undefined> = process.env): string => {
  const fromContext: unknown = app.node.tryGetContext('stage')
  return typeof fromContext === 'string' ? fromContext : (environment.SHARELOCK_STAGE ?? 'local')
}

/** Adds the stacks of a stage to the app. */
export const buildStage = (app: App, stage: string, bundles: Bundles = bundleHandlers()): { job: JobStack } => ({
  job: new JobStack(app, `Sharelock-${stage}-Job`, { config: stageConfig(stage), bundles, stores: localStores }),
})
