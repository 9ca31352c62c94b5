/**
 * Rules of cfn-lint that are not asked. W3005, W3010: dependencies and zones as CDK writes them. E3703: it
 * prefers Fn::Sub where CDK writes Fn::Join, in the pipeline's actions.
 */
export const LINT_IGNORED = ['W3005', 'W3010', 'E3703'] as const
