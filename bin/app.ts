import { App } from 'aws-cdk-lib'
import { buildStage, stageOf } from '../infra/app.ts'
import { FLAGS } from '../infra/flags.ts'

/** Synthesises one stage into cdk.out (or CDK_OUTDIR), without an AWS account or network. */
const app = new App({ context: FLAGS, outdir: process.env.CDK_OUTDIR ?? 'cdk.out', analyticsReporting: false })
buildStage(app, stageOf(app))
app.synth()
