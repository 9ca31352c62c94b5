import type { Checks } from '../../../functions/contract/checks.ts'
import { messageOf } from '../../../functions/contract/failures.ts'
import type { Deployment } from '../../../functions/contract/reports.ts'
import type { Clients } from '../clients.ts'
import type { Diagnosis, Finding } from '../finding.ts'
import { OperationError } from '../operation-error.ts'
import { allRunning, type Run } from '../runs.ts'
import { databaseFindings, eventFindings } from './database.ts'
import { jobFindings, lockFindings } from './jobs.ts'
import { overtakenFindings } from './overtaken.ts'
import { rowFindings } from './rows.ts'
import { stagedFindings } from './staged.ts'
import { toldFindings } from './told-and-not-held.ts'
import { warnedFindings } from './warned.ts'

/** A check that could not be made is a finding itself: silence must not pass for health. */
const unreachable = (service: string, error: unknown): Finding => ({
  check: 'unreachable-service',
  severity: 'error',
  what: `${service}: ${messageOf(error)}`,
  remedy:
    error instanceof OperationError && error.name !== 'Unreachable'
      ? 'See the message; nothing that depends on this service was checked.'
      : 'Check the service or your sign-in, then run `sharelock doctor` again: what depends on it was not checked.',
  slice: null,
})

type Answer<T> = { readonly answer: T | null; readonly findings: readonly Finding[] }

const ask = async <T>(service: string, question: () => Promise<T>): Promise<Answer<T>> => {
  try {
    return { answer: await question(), findings: [] }
  } catch (error) {
    return { answer: null, findings: [unreachable(service, error)] }
  }
}

/**
 * Looks for every disagreement between the stores, and for whatever is out of reach. It only reads. The months bound
 * what is read in full (the rows of registered slices, their staged sources); open jobs of all months are looked at.
 */
export const diagnose = async (clients: Clients, from: string, to: string): Promise<Diagnosis> => {
  const identity = await ask('AWS STS', clients.identity)
  const deployment = await ask('The function Inspect', clients.deployment)
  // Without Inspect nothing else is known, not even where the state machine is.
  if (deployment.answer === null) return { checks: null, findings: [...identity.findings, ...deployment.findings] }
  const [checks, runs] = await Promise.all([
    ask('MySQL, through the function Inspect', () => clients.inspect({ question: 'checks', from, to })),
    ask('Step Functions', () => allRunning(clients.sfn, (deployment.answer as Deployment).stateMachineArn)),
  ])
  const found = [...identity.findings, ...checks.findings, ...runs.findings]
  if (checks.answer === null) return { checks: null, findings: found }
  found.push(...(await findingsOf(clients, checks.answer, runs.answer)))
  const told = await ask('Step Functions', () => toldFindings(clients, deployment.answer as Deployment, from, to))
  found.push(...(told.answer ?? told.findings))
  return { checks: checks.answer, findings: found }
}

const findingsOf = async (clients: Clients, checks: Checks, runs: readonly Run[] | null): Promise<Finding[]> => {
  const parts = await Promise.all([
    ask('Step Functions', async () => [
      ...(await jobFindings(clients, checks, runs)),
      ...(await overtakenFindings(clients, runs ?? [])),
    ]),
    ask('MySQL, through the function Inspect', () => rowFindings(clients, checks)),
    ask('S3', () => stagedFindings(clients, checks, runs)),
  ])
  return [
    ...databaseFindings(checks),
    ...lockFindings(checks, runs),
    ...eventFindings(checks),
    ...warnedFindings(checks),
    ...parts.flatMap(({ answer, findings }) => answer ?? findings),
  ]
}
