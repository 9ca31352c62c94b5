import type { JobReport } from '../../../functions/contract/reports.ts'

/** How far a job is, in rows of both phases. Before the delete is planned nobody knows its rows: they count as none. */
export const rowsDone = (job: JobReport): { readonly done: number; readonly all: number } => ({
  done: job.delete.rowsMarked + job.register.rowsMarked,
  all: job.delete.rows + job.source.rows,
})
