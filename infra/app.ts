import { type App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import type { Construct } from 'constructs'
import { acknowledgeFindings } from './checks/nag.ts'
import type { StageConfig } from './config/config.ts'
import { pipelineConfig, STAGE_NAMES, stageConfig } from './config/stages.ts'
import { localStores } from './data/stores.ts'
import { type Bundles, bundleHandlers } from './functions/bundles.ts'
import { DataStack } from './stacks/data-stack.ts'
import { JobStack } from './stacks/job-stack.ts'
import { PIPELINE, PipelineStack } from './stacks/pipeline-stack.ts'
import type { StageStacks } from './stacks/stage-stacks.ts'

/**
 * What to synthesise: `-c stage=...`, else SHARELOCK_STAGE, else `all` that are deployed. The CDK's command hands its context over in the
 * environment, where it can be read before there is an app.
 */
export const stageOf = (environment: Readonly<Record<string, string | undefined>>): string => {
  const context = JSON.parse(environment.CDK_CONTEXT_JSON ?? '{}') as { readonly stage?: unknown }
  return typeof context.stage === 'string' ? context.stage : (environment.SHARELOCK_STAGE ?? 'all')
}

/** Adds the stacks of a stage. */
export const addStacks = (scope: Construct, config: StageConfig, bundles: Bundles): StageStacks => {
  const prefix = `Sharelock-${config.stage}`
  if (config.kind === 'local')
    return { job: new JobStack(scope, `${prefix}-Job`, { config, bundles, stores: localStores }) }
  const { account, region } = config
  const common = { config, env: { account, region }, tags: { application: 'sharelock', stage: config.stage } }
  // Named, so that a stack has the same name whether the pipeline delivers it or a person.
  const data = new DataStack(scope, `${prefix}-Data`, { ...common, stackName: `${prefix}-Data` })
  const job = new JobStack(scope, `${prefix}-Job`, {
    ...common,
    stackName: `${prefix}-Job`,
    bundles,
    stores: () => data.stores,
  })
  acknowledgeFindings({ data, job })
  return { data, job }
}

/** Adds a stage's stacks, the pipeline's (`pipeline`), or those of every stage that is deployed (`all`), and the checks of what is deployed. */
export const buildApp = (app: App, what: string, bundles: Bundles = bundleHandlers()): void => {
  if (what === 'pipeline') new PipelineStack(app, PIPELINE, { config: pipelineConfig(), bundles, addStacks })
  else
    for (const stage of what === 'all' ? STAGE_NAMES.filter((name) => name !== 'local') : [what])
      addStacks(app, stageConfig(stage), bundles)
  // Nothing of the local stage is ever deployed, and it is synthesised far more often than all others.
  if (what !== 'local') Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
}
