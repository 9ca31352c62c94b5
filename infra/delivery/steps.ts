import type { CfnOutput } from 'aws-cdk-lib'
import { BuildSpec, LinuxBuildImage } from 'aws-cdk-lib/aws-codebuild'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { CodeBuildStep, type IFileSetProducer, ManualApprovalStep } from 'aws-cdk-lib/pipelines'
import type { AwsStage } from '../config/config.ts'
import { regionalName } from '../operators/regional-name.ts'

/** As CDK Pipelines names each of its change sets. */
const CHANGE_SET = 'PipelineChange'

/** AWS's own image; a runtime is chosen on it, and on no other image. */
export const STANDARD = {
  buildEnvironment: { buildImage: LinuxBuildImage.STANDARD_8_0 },
  partialBuildSpec: BuildSpec.fromObject({
    version: '0.2',
    phases: { install: { 'runtime-versions': { nodejs: '24' } } },
  }),
}

/** Takes a role's credentials, in the stage's own region: the pipeline's are of another account, and perhaps region. */
const assuming = (roleVariable: string, region: string): string[] => [
  `CREDENTIALS=$(aws sts assume-role --role-arn "$${roleVariable}" --role-session-name sharelock-pipeline --query "Credentials.[AccessKeyId,SecretAccessKey,SessionToken]" --output text)`,
  'export AWS_ACCESS_KEY_ID=$(echo "$CREDENTIALS" | cut -f1) AWS_SECRET_ACCESS_KEY=$(echo "$CREDENTIALS" | cut -f2) AWS_SESSION_TOKEN=$(echo "$CREDENTIALS" | cut -f3)',
  `export AWS_REGION=${region} AWS_DEFAULT_REGION=${region}`,
]

const mayAssume = (roleArn: string): PolicyStatement =>
  new PolicyStatement({ actions: ['sts:AssumeRole'], resources: [roleArn] })

/** A small job as an operator, after the stage's stacks: a deployment that cannot replace a slice is red. */
export const smokeStep = (
  { stage, account, region }: AwsStage,
  source: IFileSetProducer,
  outputs: Readonly<Record<string, CfnOutput>>,
): CodeBuildStep =>
  new CodeBuildStep('Smoke', {
    ...STANDARD,
    input: source,
    envFromCfnOutputs: { ...outputs },
    commands: ['npm ci --no-audit --no-fund', ...assuming('SMOKE_ROLE_ARN', region), 'npm run smoke'],
    rolePolicyStatements: [mayAssume(`arn:aws:iam::${account}:role/${regionalName(stage, region, 'smoke')}`)],
  })

/**
 * Switches a stack's termination protection on, once it is deployed, and fails if it is not: CodePipeline's deployments
 * know no such property (aws-cdk issue 17871). The bootstrap's deployment role may do it.
 */
export const protectStep = ({ account, region }: AwsStage, stackName: string): CodeBuildStep => {
  const role = `arn:aws:iam::${account}:role/cdk-hnb659fds-deploy-role-${account}-${region}`
  return new CodeBuildStep('Protect', {
    ...STANDARD,
    env: { DEPLOY_ROLE_ARN: role, STACK: stackName },
    commands: [
      ...assuming('DEPLOY_ROLE_ARN', region),
      'aws cloudformation update-termination-protection --enable-termination-protection --stack-name "$STACK"',
      'test "$(aws cloudformation describe-stacks --stack-name "$STACK" --query "Stacks[0].EnableTerminationProtection" --output text)" = True',
    ],
    rolePolicyStatements: [mayAssume(role)],
  })
}

/** Asks a person, once the stack's change set is there to be read and before it is executed. */
export const approveStep = ({ account, region }: AwsStage, stackName: string): ManualApprovalStep =>
  new ManualApprovalStep(`Approve-${stackName}`, {
    comment: `In account ${account}: aws cloudformation describe-change-set --region ${region} --stack-name ${stackName} --change-set-name ${CHANGE_SET} --query "Changes[].ResourceChange.[Action,Replacement,LogicalResourceId,ResourceType]" --output table`,
    reviewUrl: `https://${region}.console.aws.amazon.com/cloudformation/home?region=${region}#/stacks?filteringText=${stackName}`,
  })
