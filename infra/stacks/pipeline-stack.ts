import { Duration, Stack, type StackProps, Stage } from 'aws-cdk-lib'
import { ComputeType, LinuxBuildImage } from 'aws-cdk-lib/aws-codebuild'
import { PipelineType } from 'aws-cdk-lib/aws-codepipeline'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { CodeBuildStep, CodePipeline, CodePipelineSource, type IFileSetProducer } from 'aws-cdk-lib/pipelines'
import type { Construct } from 'constructs'
import type { PipelineConfig, StageConfig } from '../config/config.ts'
import { stageConfig } from '../config/stages.ts'
import { PipelineNotices } from '../delivery/notices.ts'
import { acknowledgePipeline } from '../delivery/pipeline-nag.ts'
import { approveStep, protectStep, STANDARD, smokeStep } from '../delivery/steps.ts'
import type { Bundles } from '../functions/bundles.ts'
import type { StageStacks } from './stage-stacks.ts'

export type PipelineStackProps = StackProps & {
  readonly config: PipelineConfig
  readonly bundles: Bundles
  /** Adds a stage's stacks; given, because the app's module knows this one. */
  readonly addStacks: (scope: Construct, config: StageConfig, bundles: Bundles) => StageStacks
}

/** The stack's own name: it deploys itself by it, from what it synthesised itself. */
export const PIPELINE = 'Sharelock-Pipeline'

/** As in package.json, which a test compares. */
const CDK_CLI_VERSION = '2.1148.1'

/**
 * All tests, with real servers and a browser, which come from the image's Debian archive: 4 GiB would not hold them. They
 * take 20 to 40 minutes on two cores.
 */
const synthEnvironment = (image: string) => ({
  buildEnvironment: {
    buildImage: LinuxBuildImage.fromDockerRegistry(image),
    computeType: ComputeType.LARGE,
  },
  timeout: Duration.hours(2),
})

/**
 * Source -> synth, with all tests -> the pipeline itself -> staging -> production. Each stage is deployed stack by stack,
 * protected, and proves itself by a small job. In the last one a person reads each stack's change set before it is
 * executed. What production gets was deployed in staging, from the same build, and has replaced a slice there.
 */
export class PipelineStack extends Stack {
  constructor(scope: Construct, id: string, { config, bundles, addStacks, ...props }: PipelineStackProps) {
    const { account, region, connectionArn, repository, branch, stages, image, emails } = config
    super(scope, id, { ...props, env: { account, region }, terminationProtection: true })
    const source = CodePipelineSource.connection(repository, branch, { connectionArn }) as IFileSetProducer
    const pipeline = new CodePipeline(this, 'Pipeline', {
      pipelineName: 'sharelock',
      pipelineType: PipelineType.V2,
      crossAccountKeys: true,
      enableKeyRotation: true,
      usePipelineRoleForActions: true,
      cliVersion: CDK_CLI_VERSION,
      // One project for all bundles: they are many and small.
      publishAssetsInParallel: false,
      synthCodeBuildDefaults: synthEnvironment(image),
      selfMutationCodeBuildDefaults: STANDARD,
      assetPublishingCodeBuildDefaults: STANDARD,
      synth: new CodeBuildStep('Synth', {
        input: source,
        // Not by its name: a source that comes as an archive has lost the right to be executed.
        commands: ['bash .ci/run', 'SHARELOCK_STAGE=pipeline npm run synth'],
        primaryOutputDirectory: 'cdk.out',
      }) as IFileSetProducer,
    })
    for (const [index, name] of stages.entries())
      this.deliver(pipeline, name, index > 0 && index === stages.length - 1, { source, bundles, addStacks })
    pipeline.buildPipeline()
    new PipelineNotices(this, 'Notices', pipeline.pipeline, emails)
    // CDK allows the connection under its service's former name only.
    pipeline.pipeline.role.addToPrincipalPolicy(
      new PolicyStatement({ actions: ['codeconnections:UseConnection'], resources: [connectionArn] }),
    )
    acknowledgePipeline(pipeline)
  }

  private deliver(
    pipeline: CodePipeline,
    name: string,
    isApproved: boolean,
    { source, bundles, addStacks }: Pick<PipelineStackProps, 'bundles' | 'addStacks'> & { source: IFileSetProducer },
  ): void {
    const stage = new Stage(this, name)
    const config = stageConfig(name)
    if (config.kind === 'local') throw new Error('The local stage is not delivered')
    const { data, job } = addStacks(stage, config, bundles)
    if (data === undefined) throw new Error(`${name} has no data stack`)
    const approve = (stack: Stack) => (isApproved ? [approveStep(config, stack.stackName)] : [])
    pipeline.addStage(stage, {
      stackSteps: [
        { stack: data, changeSet: approve(data), post: [protectStep(config, data.stackName)] },
        { stack: job, changeSet: approve(job) },
      ],
      post: job.smoke === undefined ? [] : [smokeStep(config, source, { ...job.smoke, BUCKET: data.bucketName })],
    })
  }
}
