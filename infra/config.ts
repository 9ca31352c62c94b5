import { RetentionDays } from 'aws-cdk-lib/aws-logs'

/** What differs between stages. */
export type StageConfig = {
  readonly stage: string
  /** Parallel workers of a Map state, each with one database connection. */
  readonly lanes: number
  readonly tracing: boolean
  readonly logRetention: RetentionDays
}

const STAGES: readonly StageConfig[] = [
  { stage: 'local', lanes: 2, tracing: false, logRetention: RetentionDays.ONE_WEEK },
]

/** The configuration of a stage, or a sentence that says which stages there are. */
export const stageConfig = (stage: string): StageConfig => {
  const config = STAGES.find((candidate) => candidate.stage === stage)
  if (config !== undefined) return config
  throw new Error(`There is no stage "${stage}"; the stages are: ${STAGES.map(({ stage }) => stage).join(', ')}`)
}
