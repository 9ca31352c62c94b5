import { html } from 'hono/html'
import { executionNameOf } from '../../../functions/contract/execution.ts'
import { REPORT_FORMS } from '../../../functions/contract/file-report.ts'
import type { SliceName } from '../../../functions/contract/words.ts'
import type { Words } from '../words/en.ts'
import type { Html } from './format.ts'

const links = (words: Words, base: string): Html => html`<p>${words.report}:
  ${Object.keys(REPORT_FORMS).map((form) => html`<a class="button" href="${base}/${form}" download>${form.toUpperCase()}</a> `)}</p>`

/** Ways to the report of a checked file that was never started. */
export const planReportLinks = (words: Words, id: string): Html => links(words, `/plans/${id}/report`)

/** Where a run wrote a report: it ended by one of these. */
const REPORTING: readonly string[] = ['SourceRejected', 'WarningsUnconfirmed']

/** Ways to the report of a run that refused its file. */
export const runReportLinks = (
  words: Words,
  { distributor, month }: SliceName,
  error: string,
  execution: string,
): Html =>
  REPORTING.includes(error)
    ? links(words, `/slices/${distributor}/${month}/report/${executionNameOf(execution)}`)
    : html``
