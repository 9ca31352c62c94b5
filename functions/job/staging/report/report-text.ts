import type { FileReport, ReportForm } from '../../../contract/file-report.ts'
import { csvReport } from './csv-report.ts'
import { htmlReport } from './html-report.ts'

const WRITERS: Readonly<Record<ReportForm, (report: FileReport) => string>> = {
  json: (report) => `${JSON.stringify(report, null, 2)}\n`,
  csv: csvReport,
  html: htmlReport,
}

/** A report in one of its forms. */
export const reportText = (form: ReportForm, report: FileReport): string => WRITERS[form](report)
