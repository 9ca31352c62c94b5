import { App } from 'aws-cdk-lib'
import { buildApp, stageOf } from '../infra/app.ts'
import { FLAGS } from '../infra/config/flags.ts'

/**
 * Synthesises into cdk.out (or CDK_OUTDIR), without an AWS account or network: a stage by its name (`-c stage=...` or
 * SHARELOCK_STAGE; `local` by default), `pipeline` for the one that delivers them, or `all` that are deployed.
 */
const what = stageOf(process.env)
const app = new App({
  context: FLAGS,
  outdir: process.env.CDK_OUTDIR ?? 'cdk.out',
  analyticsReporting: false,
  // More than half of the time; what is never deployed need not be valid for CloudFormation.
  builtinCloudFormationValidation: what !== 'local',
})
buildApp(app, what)
app.synth()
