import { html } from 'hono/html'
import type { Html } from '../parts/format.ts'
import { csrfField, type View } from './layout.ts'
import { isNewest, isRunning, type SliceView } from './slice-view.ts'

/**
 * What can be done with the slice as it is now; each leads to a page that asks first. Only an undo is a form here:
 * looking at one reads two sets of rows, which no link should set off.
 */
export const actions = (view: View, slice: SliceView): Html => {
  const { words } = view
  const { distributor, month, jobs, active } = slice.report
  const at = `/slices/${distributor}/${month}`
  const runs = isRunning(slice)
  const isHalted = jobs[0]?.status === 'halted'
  // A withdrawn set is shown again by an undo, an earlier one too.
  const canUndo = jobs[0]?.status === 'withdrawn' || jobs.slice(1).some(({ state }) => state === 'REGISTERED')
  const canWithdraw = active !== null && active === jobs[0]?.job
  if (!isNewest(slice)) return html``
  return html`<section id="actions" class="actions" aria-label="${words.actions}">
    ${runs ? html`<a id="stop" class="button danger" href="${at}/ask/stop">${words.stop}</a>` : ''}
    ${!runs && isHalted ? html`<a id="resume" class="button main" href="${at}/ask/resume">${words.resume}</a>` : ''}
    <a id="start" class="button" href="/start?distributor=${distributor}&month=${month}">${words.start}</a>
    ${
      !runs && canUndo
        ? html`<form method="post" action="${at}/undo" data-busy="${words.checking}">${csrfField(view)}
            <button id="undo" class="button">${words.undo}</button></form>`
        : ''
    }
    ${!runs && canWithdraw ? html`<a id="withdraw" class="button quiet" href="${at}/ask/withdraw">${words.withdraw}</a>` : ''}
  </section>`
}
