/**
 * CDK's feature flags, set in code so that `node bin/app.ts`, the CDK's command and the tests synthesise the same
 * resources. Those that touch what this project uses, with the values a new project is given.
 */
export const FLAGS = {
  '@aws-cdk/core:target-partitions': ['aws'],
  '@aws-cdk/core:enablePartitionLiterals': true,
  '@aws-cdk/core:checkSecretUsage': true,
  '@aws-cdk/core:validateSnapshotRemovalPolicy': true,
  '@aws-cdk/core:includePrefixInUniqueNameGeneration': true,
  '@aws-cdk/core:aspectStabilization': true,
  '@aws-cdk/core:aspectPrioritiesMutating': true,
  // A data stack must not be deleted while a job stack uses it.
  '@aws-cdk/core:defaultCrossStackReferences': 'strong',
  '@aws-cdk/aws-iam:minimizePolicies': true,
  '@aws-cdk/aws-lambda:recognizeLayerVersion': true,
  '@aws-cdk/aws-lambda:recognizeVersionProps': true,
  '@aws-cdk/aws-s3:createDefaultLoggingPolicy': true,
  '@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy': true,
  '@aws-cdk/aws-s3:publicAccessBlockedByDefault': true,
  '@aws-cdk/aws-kms:reduceCrossAccountRegionPolicyScope': true,
  '@aws-cdk/aws-ec2:restrictDefaultSecurityGroup': true,
} as const
