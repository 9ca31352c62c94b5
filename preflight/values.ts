import type { AwsStage } from '../infra/config/config.ts'
import { pipelineConfig } from '../infra/config/stages.ts'
import { type Findings, noFindings } from './lacks.ts'

const FILE = 'Put your own into infra/config/stages.ts.'

const example = (what: string, value: string) => ({
  check: 'example-values',
  what: `The ${what} ${value} is an example that nobody owns.`,
  remedy: FILE,
})

const isExampleAccount = (account: string): boolean => /^(\d)\1{11}$/.test(account)

const addresses = (findings: Findings, what: string, emails: readonly string[]): void => {
  for (const email of emails) if (/@example\.\w+$/.test(email)) findings.lacks.push(example(what, email))
}

/** What stands in stages.ts as an example and would only fail, or tell nobody, once it is deployed. */
export const lookAtValues = ({ account, alarms, smokeFrom, stage }: AwsStage): Findings => {
  const findings = noFindings()
  if (isExampleAccount(account)) findings.lacks.push(example(`account of ${stage}`, account))
  if (smokeFrom !== undefined && isExampleAccount(smokeFrom))
    findings.lacks.push(example(`account in smokeFrom of ${stage}`, smokeFrom))
  addresses(findings, `address of ${stage}'s alarms`, [...alarms.emails, ...alarms.page.emails])
  if (/\/example\//.test(alarms.runbookUrl))
    findings.lacks.push(example(`runbook's address of ${stage}`, alarms.runbookUrl))
  if (findings.lacks.length === 0) findings.fine.push('no example is left among the values of the stage')
  return findings
}

export const lookAtPipelineValues = (): Findings => {
  const findings = noFindings()
  const { account, connectionArn, repository, emails } = pipelineConfig()
  if (isExampleAccount(account)) findings.lacks.push(example('account of the pipeline', account))
  if (connectionArn.endsWith('/00000000-0000-0000-0000-000000000000'))
    findings.lacks.push(example('connection', connectionArn))
  if (repository.startsWith('example/')) findings.lacks.push(example('repository', repository))
  addresses(findings, "address of the pipeline's notices", emails)
  return findings
}
