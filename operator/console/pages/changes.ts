import { html } from 'hono/html'
import { count } from '../../../functions/contract/numbers.ts'
import type { Largest } from '../../operations/changes.ts'
import type { Html } from '../parts/format.ts'
import type { Words } from '../words/en.ts'

const NONE = '–'

const panel = (id: string, title: string, heads: readonly string[], rows: readonly Html[]): Html => html`
  <section class="panel" aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    <div class="scroll" role="region" aria-labelledby="${id}" tabindex="0"><table>
      <thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
      <tbody>${rows}</tbody>
    </table></div>
  </section>`

const cell = (text: string): Html => html`<td class="number">${text}</td>`

/** The largest changes of rows, then those of parties. */
export const changesPanels = (words: Words, { largest, parties, partiesChanged }: Largest, changed: number): Html => {
  if (changed === 0) return html`<p class="empty">${words.noChanges}</p>`
  const titled = (title: string, shown: number, all: number): string =>
    all > shown ? `${title} (${words.ofAll(count(shown), count(all))})` : title
  const shares = [words.shareBefore, words.shareAfter, words.shareDifference]
  return html`
    ${panel(
      'largest',
      titled(words.largestChanges, largest.length, changed),
      ['ISRC', words.right, words.party, ...shares],
      largest.map(
        (row) => html`<tr><td>${row.isrc}</td><td>${row.rightType}</td><td>${row.party}</td>
          ${cell(row.before ?? NONE)}${cell(row.after ?? NONE)}${cell(row.difference)}</tr>`,
      ),
    )}
    ${panel(
      'parties',
      titled(words.partiesChanges, parties.length, partiesChanged),
      [words.party, words.rowsTitle, ...shares],
      parties.map(
        (each) => html`<tr><td>${each.party}</td>${cell(count(each.rows))}
          ${cell(each.before)}${cell(each.after)}${cell(each.difference)}</tr>`,
      ),
    )}`
}
