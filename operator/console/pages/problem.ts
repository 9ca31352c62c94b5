import { html } from 'hono/html'
import type { OperationErrorName } from '../../operations/operation-error.ts'
import type { Html } from '../parts/format.ts'
import type { Words } from '../words/en.ts'
import type { Page, View } from './layout.ts'

const REFRESH_MS = 3_000

const TITLES = {
  Failed: 'problemFailed',
  Usage: 'problemUsage',
  Rejected: 'problemRejected',
  Busy: 'problemBusy',
  Halted: 'problemHalted',
  Unconfirmed: 'problemUnconfirmed',
  Unreachable: 'problemUnreachable',
  NotFound: 'problemNotFound',
  Findings: 'problemFindings',
  PlanMoved: 'problemPlanMoved',
} as const satisfies Record<OperationErrorName, keyof Words>

export const problemTitle = (words: Words, name: OperationErrorName): string => words[TITLES[name]]

/** Instead of the page that was asked for. An outage passes, so its page asks again by itself. */
export const problemPage = ({ words }: View, name: OperationErrorName, message: string, canRetry: boolean): Page => {
  const asksAgain = canRetry && name === 'Unreachable'
  return {
    title: problemTitle(words, name),
    refreshMs: asksAgain ? REFRESH_MS : null,
    body: html`
      <section class="panel narrow failure" role="alert">
        <h1>${problemTitle(words, name)}</h1>
        <p>${message}</p>
        ${asksAgain ? html`<p class="small">${words.problemRetries}</p>` : ''}
        <p><a class="button" href="/">${words.overview}</a></p>
      </section>`,
  }
}

/** For a browser without a session: nothing of the console's own is loaded or told. */
const barePage = (language: string, title: string, body: Html): Html => html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${title} · Sharelock</title></head>
<body><main id="main"><h1>${title}</h1>${body}</main></body>
</html>`

export const enterPage = (words: Words, language: string, why: string): Html =>
  barePage(language, words.enterTitle, html`<p>${why}</p><p>${words.enterHow}</p>`)

/** What the printed address answers: a button, since whatever looks at an address may open it, and few press a button. */
export const doorPage = (words: Words, language: string, token: string): Html =>
  barePage(
    language,
    words.doorTitle,
    html`<p>${words.doorOnce}</p><form method="post" action="/enter">
      <input type="hidden" name="token" value="${token}"><p><button autofocus>${words.doorEnter}</button></p></form>`,
  )
