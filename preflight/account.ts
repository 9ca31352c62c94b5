import { CreateFunctionCommand, GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { HeadBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { messageOf } from '../functions/contract/failures.ts'
import type { AwsStage } from '../infra/config/config.ts'
import { concurrencyNeeded } from '../infra/config/connections.ts'
import { type Findings, joined, noFindings } from './lacks.ts'

type Place = Pick<AwsStage, 'account' | 'region'>

/** Whose credentials these are, and whether the account is prepared for the CDK. */
export const lookAtPlace = async ({ account, region }: Place): Promise<Findings> => {
  const findings = noFindings()
  const identity = await new STSClient({ region }).send(new GetCallerIdentityCommand({})).catch((error: unknown) => {
    findings.lacks.push({
      check: 'credentials',
      what: `AWS does not say who you are: ${messageOf(error)}.`,
      remedy: 'Sign in, or set AWS_PROFILE.',
    })
  })
  if (identity === undefined) return findings
  if (identity.Account !== account) {
    findings.lacks.push({
      check: 'account',
      what: `Your credentials are of account ${identity.Account}, and the stage is for ${account}.`,
      remedy: 'Sign in to that account, or correct infra/config/stages.ts.',
    })
    return findings
  }
  findings.fine.push(`account ${account}: ${identity.Arn}`)
  const Bucket = `cdk-hnb659fds-assets-${account}-${region}`
  try {
    await new S3Client({ region, forcePathStyle: true }).send(new HeadBucketCommand({ Bucket }))
    findings.fine.push(`bootstrap: ${Bucket} is there`)
  } catch (error) {
    if ((error as Error).name === 'NotFound')
      findings.lacks.push({
        check: 'bootstrap',
        what: `The account is not prepared for the CDK in ${region}: there is no bucket ${Bucket}.`,
        remedy: `npx cdk bootstrap aws://${account}/${region} (with --trust, see docs/first-deployment.md, where a pipeline delivers).`,
      })
    else findings.unknown.push(`bootstrap: ${Bucket} could not be asked for (${messageOf(error)})`)
  }
  return findings
}

/** Whether Lambda lets this account have what the stage asks for. A young account has 10 at once, and 3,008 MB. */
export const lookAtQuotas = async (config: AwsStage): Promise<Findings> => {
  const client = new LambdaClient({ region: config.region })
  return joined([await concurrency(client, config), await memory(client, config)])
}

const QUOTA = 'aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384'

const concurrency = async (client: LambdaClient, config: AwsStage): Promise<Findings> => {
  const findings = noFindings()
  const needed = concurrencyNeeded(config)
  try {
    const { AccountLimit } = await client.send(new GetAccountSettingsCommand({}))
    const has = AccountLimit?.ConcurrentExecutions ?? 0
    if (has >= needed) findings.fine.push(`Lambda concurrency: ${has}, and the stage needs ${needed}`)
    else
      findings.lacks.push({
        check: 'lambda-concurrency',
        what: `The account may run ${has} functions at once, and the stage needs ${needed}${config.reservedConcurrency ? ', since it reserves them and 100 stay free' : ''}.`,
        remedy: `${QUOTA} --desired-value 1000, or turn jobsMax or lanes down${config.reservedConcurrency ? ', or reservedConcurrency off' : ''}.`,
      })
  } catch (error) {
    findings.unknown.push(`Lambda concurrency: ${messageOf(error)}`)
  }
  return findings
}

/**
 * No call tells the largest memory. So Lambda is asked for a function that can't come to be, under a role that does not
 * exist: it refuses the memory before it looks at the role.
 */
const memory = async (client: LambdaClient, { account, sourceMemoryMb }: AwsStage): Promise<Findings> => {
  const findings = noFindings()
  const request = new CreateFunctionCommand({
    FunctionName: 'sharelock-preflight',
    Role: `arn:aws:iam::${account}:role/sharelock-preflight-no-such-role`,
    Runtime: 'nodejs24.x',
    Handler: 'index.handler',
    Code: { ZipFile: EMPTY_ZIP },
    MemorySize: sourceMemoryMb,
  })
  const answer = await client.send(request).catch((error: Error) => error)
  const text = answer instanceof Error ? answer.message : ''
  if (/memorysize/i.test(text)) {
    const [, max] = /less than or equal to (\d+)/.exec(text) ?? []
    findings.lacks.push({
      check: 'lambda-memory',
      what: `Lambda gives this account ${max ?? 'fewer'} MB for a function, and StageSource has ${sourceMemoryMb}.`,
      remedy: `Set sourceMemoryMb of the stage to ${max ?? 'less'}, which bounds the rows of one file; or ask AWS's support for more.`,
    })
  } else if (/role/i.test(text)) findings.fine.push(`Lambda memory: ${sourceMemoryMb} MB`)
  else
    findings.unknown.push(`Lambda memory: ${text === '' ? 'the function was made; delete sharelock-preflight' : text}`)
  return findings
}

/** The end of an archive with nothing in it. */
const EMPTY_ZIP = Buffer.from('504b0506000000000000000000000000000000000000', 'hex')
