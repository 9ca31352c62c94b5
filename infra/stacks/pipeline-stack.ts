import { type CfnOutput, Stack, type StackProps, Stage } from 'aws-cdk-lib'
import { BuildSpec, LinuxBuildImage } from 'aws-cdk-lib/aws-codebuild'
import { PipelineType } from 'aws-cdk-lib/aws-codepipeline'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import {
  CodeBuildStep,
  CodePipeline,
  CodePipelineSource,
  type IFileSetProducer,
  ManualApprovalStep,
} from 'aws-cdk-lib/pipelines'
import type { Construct } from 'constructs'
import type { AwsStage, PipelineConfig, StageConfig } from '../config/config.ts'
import { stageConfig } from '../config/stages.ts'
import type { Bundles } from '../functions/bundles.ts'
import { regionalName } from '../operators/regional-name.ts'
import { acknowledgePipeline } from './pipeline-nag.ts'
import type { StageStacks } from './stage-stacks.ts'

export type PipelineStackProps = StackProps & {
  readonly config: PipelineConfig
  readonly bundles: Bundles
  /** Adds a stage's stacks; given, because the app's module knows this one. */
  readonly addStacks: (scope: Construct, config: StageConfig, bundles: Bundles) => StageStacks
}

const NODE = { phases: { install: { 'runtime-versions': { nodejs: '24' } } } }

/** Takes the smoke role's credentials; the pipeline's own are of another account. */
const ASSUME = [
  'CREDENTIALS=$(aws sts assume-role --role-arn "$SMOKE_ROLE_ARN" --role-session-name smoke --query "Credentials.[AccessKeyId,SecretAccessKey,SessionToken]" --output text)',
  'export AWS_ACCESS_KEY_ID=$(echo "$CREDENTIALS" | cut -f1) AWS_SECRET_ACCESS_KEY=$(echo "$CREDENTIALS" | cut -f2) AWS_SESSION_TOKEN=$(echo "$CREDENTIALS" | cut -f3)',
]

/**
 * Source -> synth, with all tests -> the pipeline itself -> staging -> smoke job -> approval -> production. What
 * production gets was deployed in staging, from the same build, and has replaced a slice there.
 */
export class PipelineStack extends Stack {
  constructor(scope: Construct, id: string, { config, bundles, addStacks, ...props }: PipelineStackProps) {
    const { account, region, connectionArn, repository, branch, stages } = config
    super(scope, id, { ...props, env: { account, region } })
    const source = CodePipelineSource.connection(repository, branch, { connectionArn }) as IFileSetProducer
    const pipeline = new CodePipeline(this, 'Pipeline', {
      pipelineName: 'sharelock',
      pipelineType: PipelineType.V2,
      crossAccountKeys: true,
      enableKeyRotation: true,
      usePipelineRoleForActions: true,
      // One project for all bundles: they are many and small.
      publishAssetsInParallel: false,
      codeBuildDefaults: {
        buildEnvironment: { buildImage: LinuxBuildImage.STANDARD_8_0 },
        partialBuildSpec: BuildSpec.fromObject({ version: '0.2', ...NODE }),
      },
      synth: new CodeBuildStep('Synth', {
        input: source,
        // The tests find or unpack their servers themselves, without root.
        commands: ['.ci/run', 'SHARELOCK_STAGE=pipeline npm run synth'],
        primaryOutputDirectory: 'cdk.out',
      }) as IFileSetProducer,
    })
    for (const [index, name] of stages.entries()) {
      const stage = new Stage(this, name)
      const stageValues = stageConfig(name)
      if (stageValues.kind === 'local') throw new Error('The local stage is not delivered')
      const { data, job } = addStacks(stage, stageValues, bundles)
      const isLast = index === stages.length - 1
      pipeline.addStage(stage, {
        pre: isLast && index > 0 ? [new ManualApprovalStep('Approve', { comment: `Deploy to ${name}?` })] : [],
        post:
          job.smoke === undefined || data === undefined
            ? []
            : [smokeStep(stageValues, source, { ...job.smoke, BUCKET: data.bucketName })],
      })
    }
    pipeline.buildPipeline()
    // CDK allows the connection under its service's former name only.
    pipeline.pipeline.role.addToPrincipalPolicy(
      new PolicyStatement({ actions: ['codeconnections:UseConnection'], resources: [connectionArn] }),
    )
    acknowledgePipeline(pipeline)
  }
}

const smokeStep = (
  { stage, account, region }: AwsStage,
  source: IFileSetProducer,
  outputs: Readonly<Record<string, CfnOutput>>,
): CodeBuildStep =>
  new CodeBuildStep('Smoke', {
    input: source,
    envFromCfnOutputs: { ...outputs },
    commands: ['npm ci --no-audit --no-fund', ...ASSUME, 'npm run smoke'],
    rolePolicyStatements: [
      new PolicyStatement({
        actions: ['sts:AssumeRole'],
        resources: [`arn:aws:iam::${account}:role/${regionalName(stage, region, 'smoke')}`],
      }),
    ],
  })
