import type { FileReport } from '../../functions/contract/file-report.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import type { StartPlan, Validation } from './start-plan.ts'

/** The report of a file that was checked here and never started. */
export const localReport = (
  name: string,
  { distributor, month }: SliceName,
  { encoding, gzip, ignoredColumns, summary, rejection }: Validation,
  warnings: StartPlan['warnings'],
): FileReport => ({
  version: 1,
  ...{ distributor, month, key: name, etag: '', execution: '' },
  ...{ compressed: gzip, encoding, ignoredColumns, records: summary?.rows ?? 0 },
  ...(rejection ?? { total: 0, errors: [], stoppedAtLine: null }),
  warnings,
})
