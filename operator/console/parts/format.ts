import { html } from 'hono/html'
import { seoulTime } from '../../../functions/contract/seoul-time.ts'

/** What `html` makes: text that has been escaped. */
export type Html = ReturnType<typeof html>

export const time = (iso: string | null): Html =>
  iso === null ? html`<span class="none">–</span>` : html`<time datetime="${iso}">${seoulTime(iso)}</time>`

export const secondsBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 1_000

/** `512 MB`. */
export const bytes = (value: number): string =>
  value >= 1_024 ** 2 ? `${Math.round(value / 1_024 ** 2)} MB` : `${Math.max(1, Math.round(value / 1_024))} KB`

/** Digests and tokens, cut to what tells them apart. */
export const short = (text: string): Html => html`<code title="${text}">${text.slice(0, 12)}</code>`

/** A caller as people know it, `Operator/kim`; the whole name on pointing at it. */
export const caller = (name: string): Html =>
  html`<span title="${name}">${name.replace(/^arn:aws[^:]*:([^:]*:){3}([^/]*\/)?/, '')}</span>`
