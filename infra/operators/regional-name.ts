/** IAM has one namespace for all regions of an account: without the region, a stage's second one could not be deployed. */
export const regionalName = (
  stage: string,
  region: string,
  who: 'reader' | 'operator' | 'on-call' | 'smoke' | 'settlement',
): string => `sharelock-${stage}-${region}-${who}`
