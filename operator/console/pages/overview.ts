import { html } from 'hono/html'
import { addMonths } from '../../../functions/contract/months.ts'
import { count } from '../../../functions/contract/numbers.ts'
import type { SliceLine } from '../../../functions/contract/reports.ts'
import { seoulTime } from '../../../functions/contract/seoul-time.ts'
import { visible } from '../../../functions/contract/visible.ts'
import { type WarnedFile, warningNames } from '../../../functions/contract/warnings.ts'
import { sliceName } from '../../../functions/contract/words.ts'
import { percent } from '../../format/text.ts'
import type { Html } from '../parts/format.ts'
import { MONTHS_SHOWN } from '../parts/months.ts'
import type { OverviewCell, OverviewRow } from '../parts/overview-rows.ts'
import type { Words } from '../words/en.ts'
import { type BadgeShape, badgeShapeOf, shape } from './badge.ts'
import type { Page, View } from './layout.ts'

export type Overview = {
  /** Newest first. */
  readonly months: readonly string[]
  readonly currentMonth: string
  readonly rows: readonly OverviewRow[]
  /** Files of the schedule that wait for somebody. */
  readonly warned: readonly WarnedFile[]
  /** Of running slices, by `ARIA 2026-10`. */
  readonly work: ReadonlyMap<string, { readonly done: number; readonly all: number }>
}

/** While something runs the page is worth asking for more often. */
const REFRESH_RUNNING_MS = 2_000
const REFRESH_QUIET_MS = 10_000

export const overviewPage = ({ words }: View, overview: Overview): Page => {
  const { months, currentMonth, rows } = overview
  const [newest = '', oldest = ''] = [months[0], months.at(-1)]
  const runs = rows.some(({ cells }) => cells.some((cell) => shapeOfCell(cell) === 'running'))
  return {
    title: words.overview,
    refreshMs: runs ? REFRESH_RUNNING_MS : REFRESH_QUIET_MS,
    body: html`
      <div class="heading">
        <h1>${words.months} <span class="range">${words.monthsFromTo(oldest, newest)}</span></h1>
        <p class="pager">
          <a id="older" href="/?to=${addMonths(newest, -MONTHS_SHOWN)}">${words.older}</a>
          ${newest < currentMonth ? html`<a id="newer" href="/?to=${addMonths(newest, MONTHS_SHOWN)}">${words.newer}</a>` : ''}
        </p>
      </div>
      ${glance(words, overview)}
      ${warnedFiles(words, overview)}
      ${rows.length === 0 ? html`<p class="empty">${words.noDistributors}</p>` : table(words, overview)}
      <p class="small">${words.lateRule}</p>`,
  }
}

/** What the schedule did not start, each with the way to look at it. */
const warnedFiles = (words: Words, { warned }: Overview): Html =>
  warned.length === 0
    ? html``
    : html`<section id="warned" class="panel" aria-labelledby="warned-title">
        <h2 id="warned-title">${words.warnedFiles}</h2>
        <ul>${warned.map(
          (
            file,
          ) => html`<li><a href="/start?distributor=${file.distributor}&month=${file.month}&key=${encodeURIComponent(file.key)}">${sliceName(file)}</a>
            <code>${visible(file.key)}</code> ${warningNames(file.warnings)}</li>`,
        )}</ul>
      </section>`

const shapeOfCell = (cell: OverviewCell): BadgeShape =>
  cell === null ? 'none' : cell === 'late' ? 'late' : badgeShapeOf(cell.status)

/** Who is running, halted or late, each with a link: the answer to most visits. */
const glance = (words: Words, { months, rows }: Overview): Html => {
  const slicesOf = (wanted: BadgeShape) =>
    rows.flatMap(({ distributor, cells }) =>
      cells.flatMap((cell, index) =>
        shapeOfCell(cell) === wanted ? [{ code: distributor.code, month: months[index] ?? '' }] : [],
      ),
    )
  const group = (wanted: BadgeShape, title: string): Html => {
    const found = slicesOf(wanted)
    return html`<div class="${wanted} ${found.length === 0 ? 'nobody' : ''}">
      <dt>${shape(wanted)}${title} <b>${count(found.length)}</b></dt>
      <dd>${
        found.length === 0
          ? words.nobody
          : found.map(({ code, month }) => html`<a href="/slices/${code}/${month}">${code} ${month}</a> `)
      }</dd>
    </div>`
  }
  const settled = slicesOf('settled').length
  return html`<section aria-labelledby="glance">
    <h2 id="glance" class="sr">${words.attention}</h2>
    <dl class="glance">
      ${group('running', words.running)}${group('halted', words.halted)}${group('late', words.late)}
      <div class="settled"><dt>${shape('settled')}${words.settled} <b>${count(settled)}</b></dt><dd></dd></div>
    </dl>
  </section>`
}

const table = (words: Words, overview: Overview): Html => html`
  <div class="scroll" role="region" aria-label="${words.months}" tabindex="0">
    <table class="months">
      <thead><tr>
        <th scope="col">${words.distributor}</th>
        ${overview.months.map((month) => html`<th scope="col">${month}</th>`)}
      </tr></thead>
      <tbody>
        ${overview.rows.map(
          ({ distributor, cells }) => html`<tr>
            <th scope="row">
              <span class="name">${distributor.name}</span>
              <span class="code"><a href="/distributors/${distributor.code}/profile" title="${words.profile}">${distributor.code}</a>${distributor.active ? '' : ` · ${words.inactive}`}</span>
            </th>
            ${cells.map((cell, index) => tableCell(words, overview, distributor.code, overview.months[index] ?? '', cell))}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`

const tableCell = (words: Words, { work }: Overview, code: string, month: string, cell: OverviewCell): Html => html`
  <td class="${shapeOfCell(cell)}"><a href="/slices/${code}/${month}" aria-label="${code} ${month}: ${spoken(words, cell)}">
    ${
      cell === null
        ? html`<span class="line">${shape('none')}</span>`
        : cell === 'late'
          ? html`<span class="line">${shape('late')}${words.late}</span>`
          : sliceCell(words, cell, work.get(`${code} ${month}`))
    }
  </a></td>`

const spoken = (words: Words, cell: OverviewCell): string => {
  if (cell === null) return words.noJob
  if (cell === 'late') return words.late
  if (cell.status === 'settled') return `${words.settled}, ${words.rowCount(count(cell.rows))}`
  return `${cell.status === 'halted' ? words.halted : words.running}, ${cell.state}`
}

const sliceCell = (words: Words, slice: SliceLine, work: { done: number; all: number } | undefined): Html => {
  if (slice.status === 'settled')
    return html`<span class="line">${shape('settled')}${count(slice.rows)} <span class="unit">${words.rows}</span></span>
      <span class="second">${slice.registeredAt === null ? '' : seoulTime(slice.registeredAt).slice(5, 16)}</span>`
  if (slice.status === 'halted')
    return html`<span class="line">${shape('halted')}${words.halted}</span>
      <span class="second">${slice.state}</span>`
  return html`<span class="line">${shape('running')}${work === undefined ? words.running : percent(work.done, work.all)}</span>
    <span class="second">${slice.state}</span>
    ${work === undefined ? '' : html`<progress value="${work.done}" max="${Math.max(1, work.all)}" aria-hidden="true"></progress>`}`
}
