import type { DataStack } from './data-stack.ts'
import type { JobStack } from './job-stack.ts'

/** The stacks of a stage. The local one has no data stack: its stores are servers on the same machine. */
export type StageStacks = { readonly data?: DataStack; readonly job: JobStack }
