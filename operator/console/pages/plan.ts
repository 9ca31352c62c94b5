import { html } from 'hono/html'
import { executionNameOf } from '../../../functions/contract/execution.ts'
import { count } from '../../../functions/contract/numbers.ts'
import type { Rejection } from '../../../functions/contract/source-refusals.ts'
import { visible } from '../../../functions/contract/visible.ts'
import { sliceName } from '../../../functions/contract/words.ts'
import { confirmationOf } from '../../operations/confirmation.ts'
import type { StartPlan } from '../../operations/start-plan.ts'
import { type Html, short } from '../parts/format.ts'
import type { KeptPlan } from '../parts/plans.ts'
import { planReportLinks } from '../parts/report-links.ts'
import type { Words } from '../words/en.ts'
import { changesPanels } from './changes.ts'
import { banner, csrfField, type Page, type View } from './layout.ts'
import { acceptBoxes, warningsPanel } from './warnings.ts'

/** What the file holds and what a start would change; below it the form that starts. `problem`: why it came back. */
export const planPage = (view: View, id: string, { plan, kind }: KeptPlan, problem: string | null): Page => {
  const { words } = view
  const slice = sliceName(plan)
  const { accepted, rejection } = plan.validation
  const title = !accepted ? words.planRefused(slice) : kind === 'undo' ? words.planUndo(slice) : words.planStart(slice)
  return {
    title,
    refreshMs: null,
    body: html`
      <h1>${title}</h1>
      ${problem === null ? '' : banner('bad', problem)}
      ${accepted ? '' : banner('bad', `${words.problemRejected}. ${words.untouched}`)}
      ${rejection === null ? '' : rejectionTable(words, rejection)}
      ${rejection === null && plan.warnings.length === 0 ? '' : planReportLinks(words, id)}
      <div class="columns">${filePanel(words, plan)}${accepted ? differencePanel(words, plan) : ''}</div>
      ${accepted ? planChanges(words, id, plan) : ''}
      ${warningsPanel(words, plan)}
      ${accepted ? confirmForm(view, id, kind, plan) : html`<p><a class="button main" href="/start?distributor=${plan.distributor}&month=${plan.month}">${words.startTitle}</a></p>`}`,
  }
}

/** The largest changes, and all of them to save. */
const planChanges = (words: Words, id: string, { difference }: StartPlan): Html => {
  const changed = difference.added + difference.removed + difference.changed
  if (changed === 0 || difference.largest.length === 0) return html``
  return html`${changesPanels(words, difference, changed)}
    <p><a href="/plans/${id}/rows.csv">${words.allChanges}</a> · <a href="/plans/${id}/parties.csv">${words.allParties}</a></p>`
}

const filePanel = (words: Words, { validation }: StartPlan): Html => {
  const { encoding, gzip, ignoredColumns, summary } = validation
  return html`<section class="panel" aria-labelledby="file">
    <h2 id="file">${words.fileChecked}</h2>
    <dl class="facts">
      ${
        summary === null
          ? ''
          : html`<dt>${words.rowsTitle}</dt><dd>${count(summary.rows)}</dd>
          <dt>${words.tracks}</dt><dd>${count(summary.tracks)}</dd>
          <dt>${words.parties}</dt><dd>${count(summary.parties)}</dd>
          <dt>${words.shareSum}</dt><dd>${summary.shareSum}</dd>
          ${summary.held === undefined ? '' : html`<dt>${words.held}</dt><dd>${words.heldRows(count(summary.held.rows), count(summary.held.tracks), summary.held.shareSum)} ${summary.held.firstTracks.join(', ')}</dd>`}
          <dt>${words.chunks}</dt><dd>${count(summary.chunks)}</dd>
          <dt>${words.source}</dt><dd>${short(summary.digest)}</dd>`
      }
      <dt>${words.encoding}</dt><dd>${encoding}${gzip ? `, ${words.gzip}` : ''}</dd>
      ${ignoredColumns.length === 0 ? '' : html`<dt>${words.ignoredColumns}</dt><dd>${visible(ignoredColumns.join(', '))}</dd>`}
    </dl>
  </section>`
}

const differencePanel = (words: Words, plan: StartPlan): Html => {
  const { against, added, removed, changed, unchanged } = plan.difference
  const all = Math.max(1, added + removed + changed + unchanged)
  const kind = (name: string, title: string, rows: number): Html => html`<tr class="${name}">
    <th scope="row">${title}</th><td class="number">${count(rows)}</td>
    <td class="bar"><progress value="${rows}" max="${all}" aria-hidden="true"></progress></td></tr>`
  return html`<section class="panel" aria-labelledby="difference">
    <h2 id="difference">${words.difference}</h2>
    <p>${against === null ? words.againstNothing : words.against(against.job, count(against.rows))}</p>
    <table class="difference">
      ${kind('added', words.added, added)}${kind('removed', words.removed, removed)}
      ${kind('changed', words.changed, changed)}${kind('unchanged', words.unchanged, unchanged)}
    </table>
    <p class="sums"><span>${words.rowsToDelete} <b>${count(plan.rowsToDelete)}</b></span>
      <span>${words.rowsToRegister} <b>${count(plan.rowsToRegister)}</b></span></p>
  </section>`
}

const confirmForm = (view: View, id: string, kind: KeptPlan['kind'], plan: StartPlan): Html => {
  const { words } = view
  const { blockedBy, continues, joins, busyWith, alreadyRegistered } = plan
  // What the boxes of this form could ask for at most; a user who joins changes nothing.
  const expected =
    joins === null
      ? confirmationOf(plan, { supersede: blockedBy !== null, force: alreadyRegistered, wait: true })
      : null
  const tick = (name: string, text: string): Html =>
    html`<label class="tick"><input type="checkbox" name="${name}" value="1">${text}</label>`
  return html`<form class="panel narrow" method="post" action="/plans/${id}/start" data-busy="${words.startNow} ...">
    ${csrfField(view)}
    ${joins === null ? '' : banner('note', words.joins(executionNameOf(joins)))}
    ${busyWith === null ? '' : banner('note', words.busyWith(executionNameOf(busyWith)))}
    ${continues === null ? '' : banner('note', words.continues(continues.job, continues.state))}
    ${blockedBy === null ? '' : html`${banner('note', words.blockedBy(blockedBy.job, blockedBy.state))}${tick('supersede', words.supersede)}`}
    ${alreadyRegistered ? html`${banner('note', words.alreadyRegistered)}${tick('force', words.force)}` : ''}
    ${acceptBoxes(words, plan)}
    ${joins === null ? tick('wait', words.waitForLock) : ''}
    <label class="field">${words.reason}<input name="why" maxlength="500" autocomplete="off"></label>
    ${
      expected === null
        ? ''
        : html`<label class="field">${words.typeToConfirm(expected)}
            <input name="confirmation" ${plan.confirmation === null ? '' : html`required`} autocomplete="off" spellcheck="false">
            ${plan.confirmation === null ? html`<small>${words.typeWithOption}</small>` : ''}</label>`
    }
    <p class="actions">
      <button class="button main">${joins !== null ? words.join : kind === 'undo' ? words.undoNow : words.startNow}</button>
      <a class="button" href="/slices/${plan.distributor}/${plan.month}">${words.cancel}</a>
    </p>
  </form>`
}

export const rejectionTable = (words: Words, { errors, total, stoppedAtLine }: Rejection): Html => html`
  <section class="panel" aria-labelledby="errors">
    <h2 id="errors">${words.errorsShown(count(errors.length), count(total))}</h2>
    ${stoppedAtLine === null ? '' : html`<p>${words.errorsStopped(count(stoppedAtLine))}</p>`}
    <div class="scroll" role="region" aria-labelledby="errors" tabindex="0"><table>
      <thead><tr>
        ${[words.line, words.column, words.value, words.problem, words.rule].map((title) => html`<th scope="col">${title}</th>`)}
      </tr></thead>
      <tbody>${errors.map(
        ({ line, column, field, cell, value, message, rule }) => html`<tr>
          <td class="number">${cell ?? line ?? '–'}</td>
          <td>${field ?? column ?? '–'}</td>
          <td><code>${visible(value)}</code></td>
          <td class="text">${message}</td>
          <td><code>${rule}</code></td>
        </tr>`,
      )}</tbody>
    </table></div>
  </section>`
