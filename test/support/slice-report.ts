import type { JobReport, SliceReport } from '../../functions/contract/reports.ts'

/** What Inspect tells of a slice of which nothing is known but its jobs. */
export const sliceReportOf = (...jobs: JobReport[]): SliceReport => ({
  ...{ distributor: 'ARIA', month: '2026-10' },
  jobs,
  active: null,
  undo: null,
  lock: null,
  audit: [],
})
