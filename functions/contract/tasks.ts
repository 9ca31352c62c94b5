/**
 * The Lambda tasks of the state machine: one handler file, ASL state, construct id and role each.
 * `lambdaTimeoutS` is the Lambda's own timeout; the ASL task's is TASK_MARGIN_S longer.
 * `database`, `lock`, `storage`, `topic`: what the task talks to, so what it is granted and routed to.
 * `storage`: `list` sees the names under incoming/, `check` those under staged/ and reads manifests, `read` reads staged
 * objects, `stage` reads files and writes both.
 */
export type TaskSpec = {
  readonly lambdaTimeoutS: number
  readonly memoryMb: number
  readonly database: boolean
  readonly lock: boolean
  readonly storage: 'none' | 'list' | 'check' | 'read' | 'stage'
  readonly topic: boolean
}

const light = { memoryMb: 512, storage: 'none', topic: false } as const

export const TASKS = {
  // Reads the whole file: Lambda's own ceiling, and memory for the rows (about 150 bytes each).
  StageSource: { lambdaTimeoutS: 890, memoryMb: 8_192, database: true, lock: false, storage: 'stage', topic: false },
  AcquireLock: { ...light, lambdaTimeoutS: 30, database: true, lock: true },
  ReadHead: { ...light, lambdaTimeoutS: 30, database: true, lock: false },
  OpenJob: { ...light, lambdaTimeoutS: 60, database: true, lock: true },
  ReuseSet: { ...light, lambdaTimeoutS: 180, database: true, lock: true, storage: 'check' },
  PlanDelete: { ...light, lambdaTimeoutS: 180, database: true, lock: true, storage: 'check' },
  // 1,769 MB is one whole vCPU: a lane then is bounded by the database and not by its own CPU share.
  DeleteChunk: { ...light, lambdaTimeoutS: 300, memoryMb: 1_769, database: true, lock: true },
  MarkDeleted: { ...light, lambdaTimeoutS: 180, database: true, lock: true },
  BeginRegistering: { ...light, lambdaTimeoutS: 120, database: true, lock: true, storage: 'read' },
  RegisterChunk: { ...light, lambdaTimeoutS: 300, memoryMb: 1_769, database: true, lock: true, storage: 'read' },
  MarkRegistered: { ...light, lambdaTimeoutS: 180, database: true, lock: true, storage: 'check' },
  ReleaseLock: { ...light, lambdaTimeoutS: 30, database: false, lock: true },
  PublishEvents: { ...light, lambdaTimeoutS: 60, database: true, lock: false, topic: true },
  HaltJob: { ...light, lambdaTimeoutS: 120, database: true, lock: true },
} as const satisfies Record<string, TaskSpec>

export type TaskName = keyof typeof TASKS
export const TASK_NAMES = Object.keys(TASKS) as TaskName[]

/**
 * Functions beside the job's machine. PlanMonth is a task of the dispatch machine; Sweep is called by a schedule,
 * Migrate by the deployment, before any new code takes traffic, Inspect and Operate by operators.
 */
export const SUPPORT = {
  PlanMonth: { ...light, lambdaTimeoutS: 120, database: true, lock: false, storage: 'list' },
  Sweep: { ...light, lambdaTimeoutS: 240, database: true, lock: true, topic: true },
  // One minute below AWS's ceiling, which the trigger that calls it needs for itself.
  Migrate: { ...light, lambdaTimeoutS: 840, database: true, lock: false },
  // Comparing the rows of a whole slice takes it longest.
  Inspect: { ...light, lambdaTimeoutS: 150, database: true, lock: true, storage: 'check' },
  // Raising a fence may have to kill what holds the job row.
  Operate: { ...light, lambdaTimeoutS: 120, database: true, lock: true },
} as const satisfies Record<string, TaskSpec>

export type SupportName = keyof typeof SUPPORT
export const SUPPORT_NAMES = Object.keys(SUPPORT) as SupportName[]

/** Every Lambda function there is. */
export type FunctionName = TaskName | SupportName

/** `DeleteChunk` -> `delete-chunk`: the handler's file name. */
export const handlerFile = (task: FunctionName): string => task.replace(/(?<!^)([A-Z])/g, '-$1').toLowerCase()
