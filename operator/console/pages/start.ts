import { html } from 'hono/html'
import type { DistributorLine } from '../../../functions/contract/reports.ts'
import { bytes } from '../parts/format.ts'
import { banner, csrfField, type Page, type View } from './layout.ts'

export type StartForm = {
  readonly distributors: readonly DistributorLine[]
  readonly distributor: string
  readonly month: string
  readonly key: string
  readonly bytesMax: number
  /** Why the form came back. */
  readonly problem: string | null
}

/** The file is the form's last field: the server checks all others before it takes a byte of it. */
export const startPage = (view: View, form: StartForm): Page => {
  const { words } = view
  const max = bytes(form.bytesMax)
  return {
    title: words.startTitle,
    refreshMs: null,
    body: html`
      <section class="panel narrow">
        <h1>${words.startTitle}</h1>
        <p>${words.startLead}</p>
        ${form.problem === null ? '' : banner('bad', form.problem)}
        <form method="post" action="/plans" enctype="multipart/form-data" data-busy="${words.checking}">
          ${csrfField(view)}
          <label class="field">${words.distributor}
            <select name="distributor" required>
              ${form.distributors.map(
                ({ code, name }) =>
                  html`<option value="${code}" ${code === form.distributor ? html`selected` : ''}>${code} · ${name}</option>`,
              )}
            </select></label>
          <label class="field">${words.month}
            <input name="month" value="${form.month}" required pattern="20\\d\\d-(0[1-9]|1[0-2])" title="${words.monthHint}" inputmode="numeric" autocomplete="off">
            <small>${words.monthHint}</small></label>
          <label class="field">${words.key}
            <input name="key" value="${form.key}" placeholder="incoming/" autocomplete="off" spellcheck="false">
            <small>${words.keyHint}</small></label>
          <label class="field">${words.file}
            <input type="file" name="file" data-bytes-max="${form.bytesMax}" data-too-large="${words.fileTooLarge(max)}">
            <small>${words.fileHint(max)}</small></label>
          <p class="actions"><button class="button main">${words.check}</button></p>
        </form>
      </section>`,
  }
}
