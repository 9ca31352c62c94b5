import { html } from 'hono/html'
import { executionNameOf } from '../../../functions/contract/execution.ts'
import { count } from '../../../functions/contract/numbers.ts'
import type { AuditLine, JobReport, SliceReport } from '../../../functions/contract/reports.ts'
import { caller, type Html, short, time } from '../parts/format.ts'
import type { Words } from '../words/en.ts'
import { badge } from './badge.ts'

/** The jobs of a slice, newest first; each can be looked at. */
export const jobsTable = (
  words: Words,
  { distributor, month, jobs }: SliceReport,
  shown: JobReport | null,
): Html => html`
  <section id="jobs-panel" class="panel" aria-labelledby="jobs">
    <h2 id="jobs">${words.jobs}</h2>
    <div class="scroll" role="region" aria-labelledby="jobs" tabindex="0"><table>
      <thead><tr>
        ${[
          words.job,
          words.status,
          words.state,
          words.rowsTitle,
          words.source,
          words.requestedBy,
          words.opened,
          words.ended,
        ].map((title) => html`<th scope="col">${title}</th>`)}
      </tr></thead>
      <tbody>${jobs.map(
        (job) => html`<tr ${job.job === shown?.job ? html`aria-current="true"` : ''}>
          <td><a href="/slices/${distributor}/${month}?job=${job.job}">${job.job}</a></td>
          <td>${badge(words, job.status)}</td>
          <td>${job.state}</td>
          <td class="number">${count(job.source.rows)}</td>
          <td>${short(job.source.digest)}${job.isUndo ? html` <span class="tag">${words.isUndo}</span>` : ''}</td>
          <td>${caller(job.requestedBy)}</td>
          <td>${time(job.at.created)}</td>
          <td>${time(job.at.registered ?? job.at.closed)}</td>
        </tr>`,
      )}</tbody>
    </table></div>
  </section>`

export const auditTable = (words: Words, audit: readonly AuditLine[]): Html => html`
  <section id="audit-panel" class="panel" aria-labelledby="audit">
    <h2 id="audit">${words.audit}</h2>
    ${
      audit.length === 0
        ? html`<p class="empty">${words.noAudit}</p>`
        : html`<div class="scroll" role="region" aria-labelledby="audit" tabindex="0"><table>
      <thead><tr>
        ${[words.when, words.who, words.what, words.why, words.detail].map((title) => html`<th scope="col">${title}</th>`)}
      </tr></thead>
      <tbody>${audit.map(
        (line) => html`<tr>
          <td>${time(line.at)}</td>
          <td>${caller(line.caller)}</td>
          <td>${line.action}</td>
          <td class="text">${line.why}</td>
          <td class="text">${detail(line)}</td>
        </tr>`,
      )}</tbody>
    </table></div>`
    }
  </section>`

const shortDigest = (digest: string): string => `${digest.slice(0, 12)}…`

const detail = ({ job, execution, detail }: AuditLine): string =>
  [
    ...(job === null ? [] : [`job ${job}`]),
    ...(execution === null ? [] : [executionNameOf(execution)]),
    ...Object.entries(detail).map(([name, value]) => `${name} ${value}`.replaceAll(/[0-9a-f]{40,}/g, shortDigest)),
  ].join(' · ')
