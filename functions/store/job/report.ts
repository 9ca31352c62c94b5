import type { JobReport, PhaseReport } from '../../contract/reports.ts'
import { monthDate, type Phase, type Slice } from '../../contract/words.ts'
import { isoTime, isoTimeOrNull } from '../mysql/time.ts'
import type { Reader } from '../mysql/tx.ts'
import { statusOf } from './predicates.ts'
import { JOB_COLUMNS, type JobRow } from './row.ts'

/** The jobs of a slice, newest first. */
export const jobsOfSlice = async (reader: Reader, slice: Slice, limit: number): Promise<JobRow[]> =>
  reader.rows<JobRow>(
    `select ${JOB_COLUMNS} from job j where j.distributor_id = ? and j.settlement_month = ? order by j.fence desc limit ?`,
    [slice.distributorId, monthDate(slice.month), limit],
  )

/** One job by its number; none where no job has it. */
export const jobOf = async (reader: Reader, job: number): Promise<JobRow[]> =>
  reader.rows<JobRow>(`select ${JOB_COLUMNS} from job j where j.id = ?`, [job])

/** The slice of a job; undefined where no job has this number. */
export const sliceOfJob = async (reader: Reader, job: number): Promise<Slice | undefined> => {
  const [slice] = await reader.rows<Slice>(
    `select j.distributor_id as distributorId, d.code as distributor, date_format(j.settlement_month, '%Y-%m') as month
     from job j join distributor d on d.id = j.distributor_id where j.id = ?`,
    [job],
  )
  return slice
}

type PhaseRow = {
  readonly job_id: number
  readonly phase: Phase
  readonly chunks: number
  readonly marked: number
  readonly total: string
  readonly done: string
  readonly last_marked_at: string | null
  readonly map: string
}

/** Characters of a map: far more than chunks of any slice, and far less than the server's memory. */
const MAP_CHARS_MAX = 1_000_000

/** How far the phases of some jobs are: one row for each phase that has a plan. */
export const phasesOf = async (reader: Reader, jobs: readonly number[]): Promise<PhaseRow[]> =>
  jobs.length === 0
    ? []
    : reader.rows<PhaseRow>(
        `select /*+ set_var(group_concat_max_len = ${MAP_CHARS_MAX}) */ job_id, phase, count(*) as chunks,
                count(marked_at) as marked, sum(row_count) as total, sum(if(marked_at is null, 0, row_count)) as done,
                max(marked_at) as last_marked_at,
                group_concat(if(marked_at is null, '.', '#') order by from_isrc, number separator '') as map
         from job_chunk where job_id in (?) group by job_id, phase`,
        [[...jobs]],
      )

const UNPLANNED: PhaseReport = { chunks: 0, marked: 0, rows: 0, rowsMarked: 0, lastMarkedAt: null, map: '' }

const phaseReport = (phases: readonly PhaseRow[], job: number, phase: Phase): PhaseReport => {
  const found = phases.find((each) => each.job_id === job && each.phase === phase)
  if (found === undefined) return UNPLANNED
  return {
    chunks: found.chunks,
    marked: found.marked,
    rows: Number(found.total),
    rowsMarked: Number(found.done),
    lastMarkedAt: isoTimeOrNull(found.last_marked_at),
    map: found.map,
  }
}

/** A job as operators see it; its token stays here. */
export const jobReport = (job: JobRow, phases: readonly PhaseRow[]): JobReport => ({
  job: job.id,
  state: job.state,
  status: job.closed_at === null ? statusOf(job) : 'closed',
  fence: job.fence,
  execution: job.execution,
  requestedBy: job.requested_by,
  isUndo: job.is_undo === 1,
  source: { digest: job.source_digest, rows: job.source_rows, shareSum: job.source_share_sum },
  slot: job.slot,
  waitsFor: job.waits_for,
  at: {
    created: isoTime(job.created_at),
    opened: isoTime(job.opened_at),
    deleted: isoTimeOrNull(job.deleted_at),
    registering: isoTimeOrNull(job.registering_at),
    registered: isoTimeOrNull(job.registered_at),
    withdrawn: isoTimeOrNull(job.withdrawn_at),
    closed: isoTimeOrNull(job.closed_at),
  },
  halt:
    job.halted_at === null
      ? null
      : { at: isoTime(job.halted_at), error: job.halt_error ?? '', cause: job.halt_cause ?? '' },
  delete: phaseReport(phases, job.id, 'delete'),
  register: phaseReport(phases, job.id, 'register'),
})
