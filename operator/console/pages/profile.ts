import { html } from 'hono/html'
import { delimiterOf, profileDocument } from '../../../functions/contract/profile.ts'
import type { ProfileReport } from '../../../functions/contract/profile-report.ts'
import { ROW_COLUMNS } from '../../../functions/contract/row-format.ts'
import { seoulTime } from '../../../functions/contract/seoul-time.ts'
import { quoted, visible } from '../../../functions/contract/visible.ts'
import type { Preview } from '../../../functions/job/staging/preview-source.ts'
import type { Proposal } from '../../operations/proposal.ts'
import { bytes, caller, type Html } from '../parts/format.ts'
import type { Words } from '../words/en.ts'
import { banner, csrfField, type Page, type View } from './layout.ts'
import { rejectionTable } from './plan.ts'

/** What the page shows beside the profile that is set. */
export type ProfileDesk = {
  readonly report: ProfileReport
  /** The text in the form: a profile as JSON. */
  readonly text: string
  readonly why: string
  readonly bytesMax: number
  readonly problem: string | null
  readonly wasSet: boolean
  readonly proposal: Proposal | null
  readonly preview: Preview | null
}

/** A profile as it stands in the form. */
export const profileText = (report: Pick<ProfileReport, 'profile'>): string =>
  JSON.stringify(profileDocument(report.profile), null, 2)

/** The profile of a distributor: what is set, a form that proposes, tries and sets another one, and its versions. */
export const profilePage = (view: View, desk: ProfileDesk): Page => {
  const { words } = view
  const { report, problem, wasSet, proposal, preview } = desk
  const title = words.profileTitle(report.distributor)
  return {
    title,
    refreshMs: null,
    body: html`
      <h1>${title}</h1>
      ${problem === null ? '' : banner('bad', problem)}
      ${wasSet ? banner('good', words.profileSet) : ''}
      <p>${report.version === 0 ? words.profileNone : words.profileVersion(report.version)}</p>
      ${proposal === null ? '' : seenPanel(words, proposal)}
      ${form(view, desk)}
      ${preview === null ? '' : previewPanel(words, preview)}
      ${report.versions.length === 0 ? '' : versionsPanel(words, report)}`,
  }
}

/** The file is the form's last field: the server checks all others before it takes a byte of it. */
const form = (view: View, { report, text, why, bytesMax }: ProfileDesk): Html => {
  const { words } = view
  const to = (what: string): string => `/distributors/${report.distributor}/profile?what=${what}`
  const max = bytes(bytesMax)
  return html`<form class="panel narrow" method="post" action="${to('test')}" enctype="multipart/form-data">
    ${csrfField(view)}
    <label class="field">${words.profileField}
      <textarea name="profile" rows="16" spellcheck="false" autocomplete="off">${text}</textarea>
      <small>${words.profileHint}</small></label>
    <label class="field">${words.reason}<input name="why" value="${why}" maxlength="500" autocomplete="off"></label>
    <label class="field">${words.profileFile}
      <input type="file" name="file" data-bytes-max="${bytesMax}" data-too-large="${words.fileTooLarge(max)}"></label>
    <p class="actions">
      <button class="button" formaction="${to('propose')}">${words.profilePropose}</button>
      <button class="button" formaction="${to('test')}">${words.profileTest}</button>
      <button class="button main" formaction="${to('set')}">${words.profileSave}</button>
    </p>
  </form>`
}

const seenPanel = (words: Words, { profile, seen }: Proposal): Html => {
  const { header, rowsAfterData, share } = seen
  const delimiter = delimiterOf(profile)
  return html`<section class="panel" aria-label="${words.profileProposed}">
    <p>${words.profileProposed}</p>
    <ul>
      <li>${delimiter === undefined ? words.seenWorkbook : words.seenText(quoted(delimiter))}</li>
      <li>${words.seenHeader(String(header.line))} ${header.names.map((name) => html`<code>${visible(name)}</code> `)}</li>
      ${rowsAfterData === 0 ? '' : html`<li>${words.seenAfter(String(rowsAfterData))}</li>`}
      <li>${words.seenShare(share.shareUnit, share.largest, share.sum)}</li>
    </ul>
  </section>`
}

const previewPanel = (words: Words, { rows, rejection, ignoredColumns }: Preview): Html => html`
  <section class="panel" aria-labelledby="preview">
    <h2 id="preview">${words.previewRows}</h2>
    ${ignoredColumns.length === 0 ? '' : html`<p>${words.ignoredColumns}: ${visible(ignoredColumns.join(', '))}</p>`}
    ${
      rows.length === 0
        ? html`<p>${words.previewNone}</p>`
        : html`<div class="scroll" role="region" aria-labelledby="preview" tabindex="0"><table>
            <thead><tr><th scope="col">${words.line}</th>${ROW_COLUMNS.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
            <tbody>${rows.map(
              (row) => html`<tr><td class="number">${row.line}</td>
                ${ROW_COLUMNS.map((column) => html`<td><code>${row[column]}</code></td>`)}</tr>`,
            )}</tbody>
          </table></div>`
    }
  </section>
  ${rejection.total === 0 ? '' : rejectionTable(words, rejection)}`

const versionsPanel = (words: Words, { versions }: ProfileReport): Html => html`
  <section class="panel" aria-labelledby="versions">
    <h2 id="versions">${words.profileVersions}</h2>
    <div class="scroll" role="region" aria-labelledby="versions" tabindex="0"><table>
      <thead><tr>${[words.profileVersions, words.when, words.who, words.why].map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
      <tbody>${versions.map(
        ({ version, setAt, setBy, why }) => html`<tr>
          <td class="number">${version}</td><td>${seoulTime(setAt)}</td><td>${caller(setBy)}</td>
          <td class="text">${visible(why)}</td></tr>`,
      )}</tbody>
    </table></div>
  </section>`
