import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type CfnBucket,
  type IBucket,
  ObjectOwnership,
  StorageClass,
} from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'

/** Days after which an object goes, by what it is. */
const INCOMING_DAYS = 400
const REJECTED_DAYS = 90
const NONCURRENT_DAYS = 90
const ACCESS_LOG_DAYS = 90
/** Staged sources move to a cheaper class then; they never go by age, for undo lives on them. */
const STAGED_INFREQUENT_DAYS = 90

const PRIVATE = {
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  encryption: BucketEncryption.S3_MANAGED,
  enforceSSL: true,
  removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
} as const

/** The bucket of files, staged sources and reject reports, and the one with the log of who reads them. */
export class Storage extends Construct {
  readonly bucket: Bucket

  constructor(scope: Construct, id: string) {
    super(scope, id)
    const accessLog = new Bucket(this, 'AccessLog', {
      ...PRIVATE,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      lifecycleRules: [{ expiration: Duration.days(ACCESS_LOG_DAYS) }],
    })
    this.bucket = new Bucket(this, 'Bucket', {
      ...PRIVATE,
      versioned: true,
      serverAccessLogsBucket: accessLog as IBucket,
      lifecycleRules: [
        { id: 'incoming', prefix: 'incoming/', expiration: Duration.days(INCOMING_DAYS) },
        { id: 'rejected', prefix: 'rejected/', expiration: Duration.days(REJECTED_DAYS) },
        {
          id: 'staged',
          prefix: 'staged/',
          transitions: [
            { storageClass: StorageClass.INFREQUENT_ACCESS, transitionAfter: Duration.days(STAGED_INFREQUENT_DAYS) },
          ],
        },
        {
          id: 'leftovers',
          noncurrentVersionExpiration: Duration.days(NONCURRENT_DAYS),
          abortIncompleteMultipartUploadAfter: Duration.days(7),
        },
      ],
    })
    ;(this.bucket.node.defaultChild as CfnBucket).overrideLogicalId('Bucket')
  }
}
