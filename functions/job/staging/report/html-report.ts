import type { FileReport } from '../../../contract/file-report.ts'
import { count } from '../../../contract/numbers.ts'
import { visible } from '../../../contract/visible.ts'
import { koreanOf } from './korean.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A text of a file: everything in it is seen, and nothing of it is markup. */
const text = (value: string | number | null): string =>
  value === null ? '–' : visible(String(value)).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}table{border-collapse:collapse;width:100%}th,td{border:1px solid #bbb;padding:.3rem .5rem;text-align:left;vertical-align:top}th{background:#f0f0f0}code{overflow-wrap:anywhere}'

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  `<table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead>\n<tbody>${rows
    .map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
    .join('\n')}</tbody></table>`

const both = (english: string, korean: string): string => `${text(english)}<br><span lang="ko">${text(korean)}</span>`

const errorsPart = ({ errors, total, stoppedAtLine }: FileReport): string => {
  if (total === 0) return ''
  const shown = errors.length < total ? `, the first ${count(errors.length)} of them below` : ''
  const stopped =
    stoppedAtLine === null
      ? ''
      : `<p>${both(`Reading stopped at line ${count(stoppedAtLine)}.`, `${count(stoppedAtLine)}행에서 읽기를 멈췄습니다.`)}</p>`
  return `<h2>Errors <span lang="ko">오류</span>: ${count(total)}${shown}</h2>${stopped}${table(
    ['Line 행', 'Column 열', 'Value 값', 'Problem 문제', 'Rule 규칙'],
    errors.map(({ line, column, cell, field, value, message, rule, part }) => [
      `${part === undefined ? '' : `${text(part)}: `}${text(cell ?? line)}`,
      text(field ?? column),
      `<code>${text(value)}</code>`,
      both(message, koreanOf(rule)),
      `<code>${rule}</code>`,
    ]),
  )}`
}

const warningsPart = ({ warnings }: FileReport): string => {
  if (warnings.length === 0) return ''
  return `<h2>Warnings <span lang="ko">경고</span></h2>${table(
    ['Warning 경고', 'Count 건수', 'Problem 문제', 'Examples 예'],
    warnings.map(({ name, count: found, message, examples }) => [
      `<code>${name}</code>`,
      count(found),
      both(`The file ${message}.`, koreanOf(name)),
      examples
        .map(
          ({ line, value, part }) =>
            `${part === undefined ? '' : `${text(part)} `}${text(line)}: <code>${text(value)}</code>`,
        )
        .join('<br>'),
    ]),
  )}`
}

/** Rows that the page lists; the CSV has all. */
const HELD_SHOWN = 200

const heldPart = ({ held }: FileReport): string => {
  if (held === undefined) return ''
  const said = both(
    `The shares of ${count(held.tracks)} tracks exceed 100. They were left out whole: ${count(held.rows)} rows, which are not registered. Please correct them.`,
    `${count(held.tracks)}곡의 지분 합이 100을 넘습니다. 곡 전체(${count(held.rows)}행)를 제외했으며 등록되지 않았습니다. 수정해 주십시오.`,
  )
  const rows = held.lines
    .slice(0, HELD_SHOWN)
    .map((line) => line.split('\t').map((value) => `<code>${text(value)}</code>`))
  return `<h2>Held <span lang="ko">보류</span></h2><p>${said}</p>${table(['isrc', 'right_type', 'party_id', 'share'], rows)}`
}

/** A report for people: one page without scripts, which loads nothing. */
export const htmlReport = (report: FileReport): string => {
  const { distributor, month, key, records } = report
  const title = `Sharelock ${distributor} ${month}`.trimEnd()
  const [said, saidInKorean] =
    report.total > 0
      ? [
          'This file was refused and nothing was changed. Please correct it and send it again.',
          '파일이 거부되었으며 변경된 것은 없습니다. 수정하여 다시 보내 주십시오.',
        ]
      : ['Please see whether this file is right.', '이 파일이 맞는지 확인해 주십시오.']
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${text(title)}</title><style>${STYLE}</style></head>
<body><h1>${text(title)}</h1>
<p>${both(said, saidInKorean)}</p>
<p>File <span lang="ko">파일</span>: <code>${text(key)}</code>, ${count(records)} rows <span lang="ko">행</span></p>
${errorsPart(report)}
${warningsPart(report)}
${heldPart(report)}
</body></html>
`
}
