import { html } from 'hono/html'
import type { LockReport, SliceReport } from '../../../functions/contract/reports.ts'
import { sliceName } from '../../../functions/contract/words.ts'
import { percent } from '../../format/text.ts'
import type { Html } from '../parts/format.ts'
import { rowsDone } from '../parts/rows-done.ts'
import { banner, csrfField, type Page, type View } from './layout.ts'
import { remaining } from './lock.ts'

export const ACTIONS = ['resume', 'stop', 'unlock', 'withdraw'] as const
export type Action = (typeof ACTIONS)[number]

/** What is about to be done, in a sentence, and the form that does it. `problem`: why the form came back. */
export const askPage = (view: View, action: Action, report: SliceReport, problem: string | null): Page => {
  const { words } = view
  const slice = sliceName(report)
  const titles = {
    resume: words.resumeAsk(slice),
    stop: words.stopAsk(slice),
    unlock: words.unlockAsk(slice),
    withdraw: words.withdrawAsk(slice),
  }
  const at = `/slices/${report.distributor}/${report.month}`
  const asked = { resume, stop, unlock, withdraw }[action](view, report)
  return {
    title: titles[action],
    refreshMs: null,
    body: html`
      <section class="panel narrow">
        <h1>${titles[action]}</h1>
        ${problem === null ? '' : banner('bad', problem)}
        ${
          asked === null
            ? html`<p>${words.notNow}</p><p><a class="button" href="${at}">${words.back}</a></p>`
            : html`<form method="post" action="${at}/${action}">
                ${csrfField(view)}${asked}
                <label class="field">${words.reason}<input name="why" maxlength="500" autocomplete="off"></label>
                <p class="actions">
                  <button class="button ${action === 'resume' ? 'main' : 'danger'}">${words[action]}</button>
                  <a class="button" href="${at}">${words.cancel}</a>
                </p>
              </form>`
        }
      </section>`,
  }
}

const resume = ({ words }: View, { jobs: [job] }: SliceReport): Html | null => {
  if (job?.status !== 'halted') return null
  const { done, all } = rowsDone(job)
  return html`<p>${words.resumeWhat(job.job, job.state, percent(done, all))}</p>
    <input type="hidden" name="job" value="${job.job}"><input type="hidden" name="fence" value="${job.fence}">
    <label class="tick"><input type="checkbox" name="wait" value="1">${words.waitForLock}</label>`
}

const stop = ({ words }: View): Html => html`<p>${words.stopWhat}</p>`

const withdraw = (view: View, report: SliceReport): Html | null => {
  const { words } = view
  if (report.active === null) return null
  return html`<p>${words.withdrawWhat(report.active)}</p>
    <input type="hidden" name="job" value="${report.active}">
    ${typed(view, report)}`
}

const typed = ({ words }: View, report: SliceReport): Html =>
  html`<label class="field">${words.typeToConfirm(sliceName(report))}<input name="confirmation" required autocomplete="off"></label>`

const unlock = (view: View, report: SliceReport): Html | null => {
  const { words } = view
  if (report.lock === null || report.lock === 'unreachable') return null
  const lock: LockReport = report.lock
  return html`<p>${words.unlockWhat}</p>
    <dl class="facts">
      <dt>${words.holder}</dt><dd><code>${lock.holder}</code></dd>
      <dt>${words.remaining}</dt><dd>${remaining(words, lock)}</dd>
      <dt>${words.tokenDigest}</dt><dd><code>${lock.tokenDigest}</code></dd>
    </dl>
    <input type="hidden" name="tokenDigest" value="${lock.tokenDigest}">
    ${typed(view, report)}`
}
