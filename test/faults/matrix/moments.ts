import { TASK_NAMES, type TaskName } from '../../../functions/contract/tasks.ts'

/** Where on the wire a run is caught: a statement on its way to MySQL, or a lock command. */
export type Place = {
  readonly on: 'database' | 'lock'
  readonly sql: RegExp
  readonly when: 'before' | 'after'
  /** Matching statements that pass first. */
  readonly skip: number
}

/** A point of a run at which a fault strikes. */
export type Moment = {
  readonly id: string
  readonly title: string
  readonly task: TaskName
  readonly place: Place
  /** One chunk's transaction from inside; otherwise a task in the middle of its work. */
  readonly inChunk: boolean
  /**
   * What a run needs to come here at all: a Valkey that does not let it acquire, a chunk that fails for good, or a wanted set
   * that lies in the other slot.
   */
  readonly needs: 'nothing' | 'outage' | 'failure' | 'undo'
}

const at = (sql: RegExp, when: Place['when'] = 'after', skip = 0): Place => ({ on: 'database', sql, when, skip })

const MARK = /^update job_chunk set marked_at/
const HEAD = /order by (j\.)?fence desc/

/** In the middle of each task: its first effect is there, and it does not know. */
const IN_TASK: Record<TaskName, Place> = {
  StageSource: at(/from distributor/),
  AcquireLock: at(HEAD),
  ReadHead: at(HEAD),
  OpenJob: at(/^insert into job /),
  ReuseSet: at(/^insert into outbox/),
  PlanDelete: at(/^insert into job_chunk/),
  DeleteChunk: at(MARK),
  MarkDeleted: at(/^update job set state/),
  BeginRegistering: at(/^insert into job_chunk/),
  RegisterChunk: at(MARK, 'after', 2),
  MarkRegistered: at(/^insert into outbox/),
  ReleaseLock: { on: 'lock', sql: /eval/, when: 'after', skip: 0 },
  // The topic has the event, the outbox does not say so yet.
  PublishEvents: at(/^update outbox/, 'before'),
  HaltJob: at(/^update job set fence/),
}

const NEEDS: Partial<Record<TaskName, Moment['needs']>> = { ReadHead: 'outage', HaltJob: 'failure', ReuseSet: 'undo' }

/** `DeleteChunk` -> `delete-chunk`: also the handler's file name. */
const idOf = (text: string): string => text.replace(/(?<!^)([A-Z])/g, '-$1').toLowerCase()

const TASK_MOMENTS = TASK_NAMES.map(
  (task): Moment => ({
    id: idOf(task),
    title: task,
    task,
    place: IN_TASK[task],
    inChunk: false,
    needs: NEEDS[task] ?? 'nothing',
  }),
)

const GUARD = /for share$/
const WRITE = { DeleteChunk: /^delete from share_ratio/, RegisterChunk: /^load data/ } as const
/** The chunk before has been committed: something is done and something is left. */
const CHUNKS_BEFORE = { DeleteChunk: 1, RegisterChunk: 3 } as const

const CHUNK_MOMENTS = (['DeleteChunk', 'RegisterChunk'] as const).flatMap((task) => {
  const skip = CHUNKS_BEFORE[task]
  const places = {
    'before the guard': at(GUARD, 'before', skip),
    'after the guard': at(GUARD, 'after', skip),
    'after the write': at(WRITE[task], 'after', skip),
    'after the commit': at(/^commit$/, 'after', skip),
  }
  return Object.entries(places).map(
    ([where, place]): Moment => ({
      id: `${idOf(task)}-${where.replace(' the ', '-')}`,
      title: `${task}, ${where}`,
      task,
      place,
      inChunk: true,
      needs: 'nothing',
    }),
  )
})

/** The fourteen tasks, and four points within a chunk of each phase. */
export const MOMENTS: readonly Moment[] = [...TASK_MOMENTS, ...CHUNK_MOMENTS]
