import { html } from 'hono/html'
import { count } from '../../../functions/contract/numbers.ts'
import type { JobReport, SliceReport } from '../../../functions/contract/reports.ts'
import { sliceName } from '../../../functions/contract/words.ts'
import type { SetDifference } from '../../operations/job-set.ts'
import { type Html, short } from '../parts/format.ts'
import type { Words } from '../words/en.ts'
import { changesPanels } from './changes.ts'
import type { Page, View } from './layout.ts'

/** What can be done with a job's rows: save them, or compare them with another job's. */
export const setLinks = (words: Words, { jobs }: SliceReport, shown: JobReport): Html => {
  const others = jobs.filter(({ job }) => job !== shown.job)
  return html`<p><a href="/jobs/${shown.job}/rows.csv.gz">${words.exportSet}</a></p>
    ${
      others.length === 0
        ? ''
        : html`<form method="get" action="/compare" class="inline">
            <input type="hidden" name="after" value="${shown.job}">
            <label for="compare-with">${words.compareWith}</label>
            <select id="compare-with" name="before">${others.map(({ job, state }) => html`<option value="${job}">${words.jobNumber(job)}, ${state}</option>`)}</select>
            <button class="button">${words.compare}</button></form>`
    }`
}

/** How the rows of two jobs differ. */
export const comparePage = ({ words }: View, found: SetDifference): Page => {
  const { before, after, added, removed, changed, unchanged } = found
  const title = words.compareTitle(before.job, after.job)
  const fact = (name: string, value: number): Html => html`<dt>${name}</dt><dd>${count(value)}</dd>`
  const changes = added + removed + changed
  return {
    title,
    refreshMs: null,
    body: html`
      <h1>${title}</h1>
      <div class="columns">
        ${[before, after].map(
          (set) => html`<section class="panel" aria-labelledby="set-${set.job}">
          <h2 id="set-${set.job}"><a href="/slices/${set.distributor}/${set.month}">${words.jobOfSlice(set.job, sliceName(set))}</a></h2>
          <dl class="facts">${fact(words.rowsTitle, set.rows)}<dt>${words.shareSum}</dt><dd>${set.shareSum}</dd>
            <dt>${words.source}</dt><dd>${short(set.digest)}</dd></dl>
        </section>`,
        )}
        <section class="panel" aria-labelledby="counts">
          <h2 id="counts">${words.difference}</h2>
          <dl class="facts">${fact(words.added, added)}${fact(words.removed, removed)}${fact(words.changed, changed)}${fact(words.unchanged, unchanged)}</dl>
          ${changes === 0 ? '' : html`<p><a href="/compare/rows.csv?before=${before.job}&after=${after.job}">${words.allChanges}</a> · <a href="/compare/parties.csv?before=${before.job}&after=${after.job}">${words.allParties}</a></p>`}
        </section>
      </div>
      ${changesPanels(words, found, changes)}`,
  }
}
