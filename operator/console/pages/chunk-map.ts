import { html } from 'hono/html'
import { count } from '../../../functions/contract/numbers.ts'
import type { PhaseReport } from '../../../functions/contract/reports.ts'
import { percent } from '../../format/text.ts'
import type { Html } from '../parts/format.ts'
import type { Words } from '../words/en.ts'

/** Squares of one map: more could not be told apart, and each is an element that the browser has to keep. */
const SQUARES_MAX = 400

/** Marked quarters, 0 to 4, of each square: a square of several chunks is full only where all of them are marked. */
export const squaresOf = (map: string): { readonly quarters: number[]; readonly chunksEach: number } => {
  const chunksEach = Math.max(1, Math.ceil(map.length / SQUARES_MAX))
  const quarters: number[] = []
  for (let start = 0; start < map.length; start += chunksEach) {
    const chunks = map.slice(start, start + chunksEach)
    const marked = chunks.replaceAll('.', '').length
    quarters.push(Math.floor((4 * marked) / chunks.length) || (marked > 0 ? 1 : 0))
  }
  return { quarters, chunksEach }
}

/**
 * The map of a phase: one square a chunk in the order of its keys, filled when its mark is set.
 *
 * @param isPlanned false: the phase's chunks are not known yet
 */
export const chunkMap = (
  words: Words,
  phase: 'delete' | 'register',
  report: PhaseReport,
  isPlanned: boolean,
  empty: string,
): Html => {
  const title = phase === 'delete' ? words.deletePhase : words.registerPhase
  if (!isPlanned || report.chunks === 0)
    return html`<div class="phase"><h3>${title}</h3><p class="empty">${isPlanned ? empty : words.notPlanned}</p></div>`
  const { quarters, chunksEach } = squaresOf(report.map)
  const text = words.chunksOf(count(report.marked), count(report.chunks))
  return html`<div class="phase ${phase}">
    <h3>${title} <b>${percent(report.rowsMarked, report.rows)}</b></h3>
    <div class="map ${quarters.length > 100 ? 'fine' : ''}" role="img" aria-label="${title}: ${text}">${quarters.map((quarter) => html`<i class="q${quarter}"></i>`)}</div>
    <p class="small">${text} · ${words.rowsOf(count(report.rowsMarked), count(report.rows))}
      ${chunksEach > 1 ? `· ${words.aggregated(chunksEach)}` : ''}</p>
  </div>`
}
