import type { TestSlice, TestStack } from './test-stack.ts'

/*
 * MySQL's own record of who wrote what, in triggers that write into tables of ours within the same transaction: what
 * was rolled back is not in it, and no handler can leave itself out.
 */

/** One statement that changed rows of a slice, and the newest job of the slice as its transaction saw it. */
export type WriteFact = {
  readonly id: number
  /** MySQL's number of the session. */
  readonly thread: number
  readonly kind: 'insert' | 'delete'
  readonly job: number | null
  readonly state: string | null
  readonly fence: number | null
  /** Of the acquisition that the job is open under. */
  readonly token: string | null
  /** Seconds since 1970, to the microsecond: when the statement began. */
  readonly at: number
}

/** One change of a job row. `old_*` are null where the row was inserted. */
export type JobFact = {
  readonly id: number
  readonly job: number
  /** MySQL's number of the session that changed it. */
  readonly thread: number
  /** Who opened it last. */
  readonly execution: string
  readonly old_state: string | null
  readonly state: string
  readonly old_fence: number | null
  readonly fence: number
  readonly old_token: string | null
  readonly token: string | null
  readonly halted: number
  readonly closed: number
  /** Its slot held the wanted set when it was opened: 0 from the moment on at which it was found not to. */
  readonly reuses: number
  /** Rows of the slice, counted where the state changed; else null. */
  readonly slice_rows: number | null
  readonly source_rows: number
  readonly at: number
}

const NOW = 'unix_timestamp(now(6))'

/** The newest job's column, as the writing transaction sees it. */
const newest = (column: string, row: string): string =>
  `(select ${column} from job where distributor_id = ${row}.distributor_id
    and settlement_month = ${row}.settlement_month order by fence desc limit 1)`

/**
 * One fact a statement and not one a row: `now(6)` does not change within a statement. Our own inserts switch it off.
 */
const writeTrigger = (kind: 'insert' | 'delete', row: 'new' | 'old'): string => `
  create trigger audit_${kind} after ${kind} on share_ratio for each row begin
    if @audit_off is null and ${row}.isrc not in ('', '[') and not (now(6) <=> @audit_${kind}_at) then
      insert into audit_write (thread, distributor_id, settlement_month, kind, job, state, fence, token, at) values (
        connection_id(), ${row}.distributor_id, ${row}.settlement_month, '${kind}',
        ${newest('id', row)}, ${newest('state', row)}, ${newest('fence', row)}, ${newest('lock_token', row)}, ${NOW});
      set @audit_${kind}_at = now(6);
    end if;
  end`

const JOB_COLUMNS = `distributor_id, settlement_month, job, thread, execution, old_state, state, old_fence, fence, old_token, token, halted, closed, reuses,
  slice_rows, source_rows, at`

const jobTrigger = (kind: 'insert' | 'update'): string => {
  const old = (column: string) => (kind === 'insert' ? 'null' : `old.${column}`)
  const counted = `(select count(*) from share_ratio where distributor_id = new.distributor_id
    and settlement_month = new.settlement_month and slot = new.slot and isrc > '' and isrc < '[')`
  return `create trigger audit_job_${kind} after ${kind} on job for each row insert into audit_job (${JOB_COLUMNS}) values (
    new.distributor_id, new.settlement_month, new.id, connection_id(), new.execution, ${old('state')}, new.state, ${old('fence')}, new.fence,
    ${old('lock_token')}, new.lock_token, new.halted_at is not null, new.closed_at is not null, new.reuses_set,
    ${kind === 'insert' ? 'null' : `if(new.state = old.state, null, ${counted})`}, new.source_rows, ${NOW})`
}

const SLICE_COLUMNS = 'id bigint auto_increment primary key, distributor_id int unsigned, settlement_month date'

const STATEMENTS = [
  `create table audit_write (${SLICE_COLUMNS}, thread bigint, kind varchar(10), job bigint, state varchar(20), fence int,
     token varchar(128), at decimal(20, 6))`,
  `create table audit_job (${SLICE_COLUMNS}, job bigint, thread bigint, execution varchar(512), old_state varchar(20), state varchar(20), old_fence int, fence int,
     old_token varchar(128), token varchar(128), halted int, closed int, reuses int, slice_rows int, source_rows int,
     at decimal(20, 6))`,
  writeTrigger('insert', 'new'),
  writeTrigger('delete', 'old'),
  jobTrigger('insert'),
  jobTrigger('update'),
]

/** Begins the record; once per stack, which has to have a MySQL of its own. */
export const installAudit = async (on: TestStack): Promise<void> => {
  // The server keeps a binary log, and asks for this before it takes a trigger.
  await on.outside.query('set global log_bin_trust_function_creators = 1')
  for (const statement of STATEMENTS) await on.outside.query(statement)
}

const factsOf = async <Fact extends { at: number }>(
  on: TestStack,
  table: string,
  slice: TestSlice,
): Promise<Fact[]> => {
  const rows = await on.rows<Fact>(
    `select a.* from ${table} a join distributor d on d.id = a.distributor_id
     where d.code = ? and a.settlement_month = ? order by a.id`,
    [slice.distributor, `${slice.month}-01`],
  )
  return rows.map((row) => ({ ...row, at: Number(row.at) }))
}

export const writesOf = (on: TestStack, slice: TestSlice): Promise<WriteFact[]> => factsOf(on, 'audit_write', slice)

/** In the order of their statements; a row's own changes follow each other in the order of their commits. */
export const jobChangesOf = (on: TestStack, slice: TestSlice): Promise<JobFact[]> => factsOf(on, 'audit_job', slice)
