import { App } from 'aws-cdk-lib'
import { buildApp, stageOf } from '../infra/app.ts'
import { FLAGS } from '../infra/config/flags.ts'

/**
 * Synthesises into cdk.out (or CDK_OUTDIR), without an AWS account or network: a stage by its name (`-c stage=...` or
 * SHARELOCK_STAGE), `pipeline` for the one that delivers them, or `all` that are deployed, which is the default: what
 * the CDK's command lists can be deployed.
 */
const what = stageOf(process.env)
if (what === 'local' && process.env.CDK_CLI_VERSION !== undefined)
  throw new Error('The local stage is not deployed. Name another one: -c stage=dev, or SHARELOCK_STAGE=dev')
const app = new App({
  context: FLAGS,
  outdir: process.env.CDK_OUTDIR ?? 'cdk.out',
  analyticsReporting: false,
  // More than half of the time; what is never deployed need not be valid for CloudFormation.
  builtinCloudFormationValidation: what !== 'local',
})
buildApp(app, what)
app.synth()
