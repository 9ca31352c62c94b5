import { z } from 'zod'
import type { Deployment } from './reports.ts'

/** What Inspect alone is told besides: which machines an operator starts. */
const DeploymentEnv = z.object({
  STAGE: z.string().min(1),
  BUCKET: z.string().min(1),
  STATE_MACHINE_ARN: z.string().startsWith('arn:'),
  DISPATCH_MACHINE_ARN: z.string().startsWith('arn:'),
})

/** Reads where everything is or says, in one sentence each, which variables are wrong. */
export const readDeployment = (source: Record<string, string | undefined>): Deployment => {
  const { data, error } = DeploymentEnv.safeParse(source)
  if (data === undefined) throw new Error(`Inspect's environment is wrong:\n${z.prettifyError(error)}`)
  return {
    stage: data.STAGE,
    stateMachineArn: data.STATE_MACHINE_ARN,
    dispatchMachineArn: data.DISPATCH_MACHINE_ARN,
    bucket: data.BUCKET,
  }
}
