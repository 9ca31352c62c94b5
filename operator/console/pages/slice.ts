import { html } from 'hono/html'
import { executionNameOf } from '../../../functions/contract/execution.ts'
import { count } from '../../../functions/contract/numbers.ts'
import { remedyOf } from '../../../functions/contract/remedies.ts'
import type { JobReport, SliceReport } from '../../../functions/contract/reports.ts'
import { percent } from '../../format/text.ts'
import { openJobOf } from '../../operations/plan.ts'
import { caller, type Html, secondsBetween, short } from '../parts/format.ts'
import { runReportLinks } from '../parts/report-links.ts'
import { rowsDone } from '../parts/rows-done.ts'
import type { Words } from '../words/en.ts'
import { actions } from './actions.ts'
import { badge, shape } from './badge.ts'
import { chunkMap } from './chunk-map.ts'
import { auditTable, jobsTable } from './history.ts'
import { banner, type Page, type View } from './layout.ts'
import { lockPanel } from './lock.ts'
import { setLinks } from './set.ts'
import { isNewest, isRunning, type SliceView } from './slice-view.ts'
import { timeline } from './timeline.ts'

const REFRESH_RUNNING_MS = 1_000
const REFRESH_QUIET_MS = 5_000

export const slicePage = (view: View, slice: SliceView): Page => {
  const { words } = view
  const { report, job, name, notice } = slice
  const { distributor, month } = report
  return {
    title: `${distributor} ${month}${job === null ? '' : ` ${job.state}`}`,
    refreshMs: isRunning(slice) ? REFRESH_RUNNING_MS : REFRESH_QUIET_MS,
    body: html`
      ${notice === null ? '' : banner('good', notice)}
      <div class="heading">
        <h1>${name} <span class="range">${distributor} ${month}</span></h1>
        <p id="status" role="status">${job === null ? '' : html`${badge(words, job.status)} ${job.state}`}</p>
      </div>
      ${job === null ? '' : html`<p id="active">${words.readersSee(report.active)}</p>`}
      ${outcome(words, slice)}
      ${actions(view, slice)}
      ${job === null ? html`<p class="empty">${words.noJobYet}</p>` : jobPanel(words, slice, job)}
      <div id="columns" class="columns">
        ${job === null ? '' : factsPanel(words, report, job)}
        ${lockPanel(words, report)}
      </div>
      ${report.jobs.length === 0 ? '' : jobsTable(words, report, job)}
      ${auditTable(words, report.audit)}`,
  }
}

const jobPanel = (words: Words, slice: SliceView, job: JobReport): Html => html`
  <section id="job-panel" class="panel job" aria-labelledby="job">
    <h2 id="job">${words.jobNumber(job.job)} ${job.isUndo ? html`<span class="tag">${words.isUndo}</span>` : ''}</h2>
    ${
      isNewest(slice)
        ? ''
        : html`<p>${words.olderJob(slice.report.jobs[0]?.job ?? 0)}
          <a href="/slices/${slice.report.distributor}/${slice.report.month}">${words.showNewest}</a></p>`
    }
    ${timeline(words, job)}
    ${figures(words, slice, job)}
    <h3 class="sr">${words.chunks}</h3>
    <div class="phases">
      ${chunkMap(words, 'delete', job.delete, job.delete.chunks > 0 || job.state !== 'DELETING', words.nothingToDelete)}
      ${chunkMap(words, 'register', job.register, job.register.chunks > 0, words.notPlanned)}
    </div>
  </section>`

/** How fast it goes and how long it takes: of the run while it runs, of the job afterwards. */
const figures = (words: Words, slice: SliceView, job: JobReport): Html => {
  const { done, all } = rowsDone(job)
  const figure = (title: string, value: string): Html => html`<div><dt>${title}</dt><dd>${value}</dd></div>`
  const runs = isNewest(slice) && job.status === 'being replaced'
  const end = job.at.registered ?? job.halt?.at ?? job.at.closed
  const { rowsPerS = null, secondsLeft = null } = slice.progress ?? {}
  const at = slice.progress?.at ?? null
  return html`<dl class="figures">
    ${figure(words.rowsTitle, `${count(done)} / ${count(all)}`)}
    ${runs && rowsPerS !== null ? figure(words.speed, count(rowsPerS)) : ''}
    ${runs && secondsLeft !== null ? figure(words.timeLeft, words.duration(secondsLeft)) : ''}
    ${runs && at !== null ? figure(words.runState, at) : ''}
    ${runs ? figure(words.runsSince, words.duration(secondsBetween(job.at.opened, new Date().toISOString()))) : ''}
    ${!runs && end !== null ? figure(words.took, words.duration(secondsBetween(job.at.created, end))) : ''}
    <div class="share"><dt class="sr">${words.percentDone('')}</dt><dd><b>${percent(done, all)}</b>
      <progress value="${done}" max="${Math.max(1, all)}" aria-label="${words.rowsTitle}"></progress></dd></div>
  </dl>`
}

/** What the followed run came to, in words, with the action that resolves it. */
const outcome = (words: Words, { report, job, progress }: SliceView): Html => {
  const failed = (title: string, error: string, cause: string, execution = ''): Html => html`
    <section id="outcome" class="panel failure" aria-labelledby="failure" role="alert">
      <h2 id="failure">${shape('halted')}${title} <code>${error}</code></h2>
      <p>${cause}</p>
      ${runReportLinks(words, report, error, execution)}
      <h3>${words.whatToDo}</h3>
      <p>${words.remedy(remedyOf(error, report, openJobOf(report) !== null))} <span class="small">${words.remedyHere}</span></p>
    </section>`
  const trouble = progress?.trouble ? banner('note', progress.trouble) : ''
  if (progress !== null && progress.failure !== null) {
    const { error, cause } = progress.failure
    const isOfJob = job?.halt != null && job.execution === progress.executionArn
    const title = isOfJob ? words.failure : words.runFailed(executionNameOf(progress.executionArn))
    return html`${trouble}${failed(title, error, cause, progress.executionArn)}`
  }
  if (job?.halt && report.jobs[0]?.job === job.job && job.status === 'halted' && progress?.status !== 'RUNNING')
    return html`${trouble}${failed(words.failure, job.halt.error, job.halt.cause)}`
  if (progress?.status === 'RUNNING' && progress.job === null) return html`${trouble}${banner('note', words.reading)}`
  if (progress?.result)
    return html`${trouble}${banner('good', `${words.runSucceeded(executionNameOf(progress.executionArn))}: ${progress.result}`)}`
  return html`${trouble}`
}

const factsPanel = (words: Words, report: SliceReport, job: JobReport): Html => {
  const fact = (title: string, value: Html | string): Html => html`<dt>${title}</dt><dd>${value}</dd>`
  return html`<section class="panel" aria-labelledby="source">
    <h2 id="source">${words.source}</h2>
    <dl class="facts">
      ${fact(words.source, short(job.source.digest))}
      ${fact(words.rowsTitle, count(job.source.rows))}
      ${fact(words.shareSum, job.source.shareSum)}
      ${job.held === undefined ? '' : fact(words.held, words.heldRows(count(job.held.rows), count(job.held.tracks), job.held.shareSum))}
      ${fact(words.requestedBy, caller(job.requestedBy))}
      ${fact(words.execution, html`<code title="${job.execution}">${executionNameOf(job.execution)}</code>`)}
      ${job.waitsFor === null ? '' : fact(words.waitsFor, job.waitsFor)}
      ${fact(words.fence, count(job.fence))}
    </dl>
    ${setLinks(words, report, job)}
  </section>`
}
