import { Stack, Validations } from 'aws-cdk-lib'
import { CfnProject } from 'aws-cdk-lib/aws-codebuild'
import { CfnBucket } from 'aws-cdk-lib/aws-s3'
import type { IConstruct } from 'constructs'

const GENERATED = 'Of the pipeline:'

/** Actions of the grants on the artifacts' bucket and its key. */
const ARTIFACT_ACTIONS = [
  's3:Abort*',
  's3:DeleteObject*',
  's3:GetBucket*',
  's3:GetObject*',
  's3:List*',
  'kms:GenerateDataKey*',
  'kms:ReEncrypt*',
]

/**
 * Acknowledges what is as it should be, most of it what CDK Pipelines generates, on the pipeline's own construct: the stages beside it keep their own
 * findings. The ids hold the logical ids of the generated resources, so they are derived from these.
 */
export const acknowledgePipeline = (pipeline: IConstruct): void => {
  const stack = Stack.of(pipeline)
  const { region, account } = stack
  const resources = pipeline.node.findAll()
  const allow = (id: string, reason: string) =>
    Validations.of(pipeline).acknowledge({ id: `AwsSolutions-${id}`, reason: `${GENERATED} ${reason}` })

  allow('CB5', 'the tests find MySQL and Valkey in the archive of Debian, and CodeBuild has no such image of its own.')
  allow('S1', 'the artifacts are copies of the source and the synthesised templates; who read them is in CloudTrail.')
  for (const action of ARTIFACT_ACTIONS) allow(`IAM5[Action::${action}]`, "grants on the artifacts' bucket and key.")
  for (const bucket of resources.filter((each) => each instanceof CfnBucket))
    allow(`IAM5[Resource::<${stack.getLogicalId(bucket)}.Arn>/*]`, 'artifacts have names that the pipeline makes up.')
  const projects = resources.filter((each) => each instanceof CfnProject).map((each) => `<${stack.getLogicalId(each)}>`)
  const logsAndReports = 'logs and test reports of its own projects.'
  for (const project of [...projects.map((name) => [`${name}:*`, `${name}-*`] as const), ['*', '*'] as const]) {
    const [logs, reports] = project
    allow(`IAM5[Resource::arn:aws:logs:${region}:${account}:log-group:/aws/codebuild/${logs}]`, logsAndReports)
    allow(`IAM5[Resource::arn:aws:codebuild:${region}:${account}:report-group/${reports}]`, logsAndReports)
  }
  allow(
    `IAM5[Resource::arn:*:iam::${account}:role/*]`,
    "it takes the CDK's own deployment roles in each account; a condition on their tags narrows this.",
  )
  allow('IAM5[Resource::*]', 'describing stacks and listing buckets know no resources.')
}
