import type { Chart } from './result.ts'

/** Mermaid reads a quoted string up to the next quote and has no escape for it. */
const quoted = (text: string): string => `"${text.replaceAll('"', "'")}"`

/** Five digits say all that a bar can show. */
const short = (value: number): string => String(Number(value.toPrecision(5)))

/** Longer names would overlap below upright bars. */
const LABEL_CHARS_MAX = 12

/** A Mermaid bar chart, as GitHub and GitLab draw it inside a Markdown page. Values that are no number have no bar. */
export const chartBlock = ({ title, labels, unit, values }: Chart): string => {
  if (labels.length !== values.length) throw new Error(`The chart ${title} has ${labels.length} labels`)
  const drawn = values.map((value, place) => [labels[place] ?? '', value] as const)
  const bars = drawn.filter(([, value]) => Number.isFinite(value))
  return [
    '```mermaid',
    bars.some(([label]) => label.length > LABEL_CHARS_MAX) ? 'xychart-beta horizontal' : 'xychart-beta',
    `  title ${quoted(title)}`,
    `  x-axis [${bars.map(([label]) => quoted(label)).join(', ')}]`,
    `  y-axis ${quoted(unit)} 0 --> ${short(Math.max(...bars.map(([, value]) => value), 0) * 1.1 || 1)}`,
    `  bar [${bars.map(([, value]) => short(value)).join(', ')}]`,
    '```',
  ].join('\n')
}
