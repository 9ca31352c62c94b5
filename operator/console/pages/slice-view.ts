import type { JobReport, SliceReport } from '../../../functions/contract/reports.ts'
import type { Progress } from '../../operations/progress.ts'

/** A slice, the job of it that is looked at, and the execution that is followed. */
export type SliceView = {
  readonly name: string
  readonly report: SliceReport
  /** Null: the slice never had a job. */
  readonly job: JobReport | null
  readonly progress: Progress | null
  readonly notice: string | null
}

export const isNewest = ({ report, job }: SliceView): boolean => job?.job === report.jobs[0]?.job

/** True while anything works on the slice, its file being read included. */
export const isRunning = ({ report, progress }: SliceView): boolean =>
  progress?.status === 'RUNNING' || report.jobs[0]?.status === 'being replaced'
