import { CfnOutput, Stack } from 'aws-cdk-lib'
import { AccountPrincipal, type ManagedPolicy, PrincipalWithConditions, Role } from 'aws-cdk-lib/aws-iam'
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import type { Construct } from 'constructs'
import { regionalName } from './regional-name.ts'

export type SmokeRoleProps = {
  readonly stage: string
  readonly pipelineAccount: string
  readonly operatorPolicy: ManagedPolicy
  readonly jobMachine: IStateMachine
}

/** By the names of the variables that bin/smoke.ts reads. */
export type SmokeOutputs = Readonly<Record<'SMOKE_ROLE_ARN' | 'STATE_MACHINE_ARN', CfnOutput>>

/** The distributor that the migrator adds to such a stage: inactive, so that no month is dispatched to it. */
export const SMOKE_DISTRIBUTOR = 'SMOKE'

/** The pipeline runs its smoke job as an operator: what an operator may not do, the job must not need. */
export const addSmokeRole = (scope: Construct, props: SmokeRoleProps): SmokeOutputs => {
  const role = new Role(scope, 'SmokeRole', {
    roleName: regionalName(props.stage, Stack.of(scope).region, 'smoke'),
    description: 'The smoke job of the Sharelock pipeline',
    assumedBy: new PrincipalWithConditions(new AccountPrincipal(props.pipelineAccount), {
      // The pipeline's own project, and nobody else in its account.
      ArnLike: { 'aws:PrincipalArn': `arn:aws:iam::${props.pipelineAccount}:role/*Smoke*` },
    }),
    managedPolicies: [props.operatorPolicy],
  })
  return {
    SMOKE_ROLE_ARN: new CfnOutput(scope, 'SmokeRoleArn', { value: role.roleArn }),
    STATE_MACHINE_ARN: new CfnOutput(scope, 'SmokeMachineArn', { value: props.jobMachine.stateMachineArn }),
  }
}
