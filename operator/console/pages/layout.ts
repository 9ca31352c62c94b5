import { html } from 'hono/html'
import { caller, type Html } from '../parts/format.ts'
import type { Words } from '../words/en.ts'
import { LANGUAGE_NAMES, LANGUAGES, type Language } from '../words/language.ts'

/** What every page needs to know of the request. */
export type View = {
  readonly words: Words
  readonly language: Language
  readonly stage: string
  /** The caller as AWS names it; null while nobody could be asked. */
  readonly identity: string | null
  readonly csrf: string
  /** Path and query, without the language. */
  readonly url: URL
}

export type Page = {
  readonly title: string
  /** How often the script asks for the page again; null for pages that do not change. */
  readonly refreshMs: number | null
  readonly body: Html
}

export const layout = ({ words, language, stage, identity, url }: View, { title, refreshMs, body }: Page): Html =>
  html`<!doctype html>
<html lang="${language}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${title} · Sharelock</title>
  <link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="/assets/console.css">
  <script src="/assets/idiomorph.js" defer></script>
  <script src="/assets/console.js" defer></script>
  ${refreshMs === null ? '' : html`<noscript><meta http-equiv="refresh" content="5"></noscript>`}
</head>
<body>
  <a class="skip" href="#main">${words.skip}</a>
  <header class="top">
    <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="20" height="20">Sharelock</a>
    <span class="stage" title="${words.stage}"><span class="sr">${words.stage} </span>${stage}</span>
    <nav>
      ${link('/', words.overview, url)}
      ${link('/start', words.start, url)}
    </nav>
    <p class="who">${identity === null ? '' : html`<span class="sr">${words.signedInAs} </span>${caller(identity)}`}</p>
    <p class="languages" aria-label="${words.language}">${LANGUAGES.map((one) => languageLink(one, language, url))}</p>
  </header>
  <p id="lost" class="banner bad" role="alert" hidden>${words.lost}</p>
  <main id="main" tabindex="-1" ${refreshMs === null ? '' : html`data-refresh-ms="${refreshMs}"`}>
    ${body}
  </main>
  <footer>${words.footer}</footer>
</body>
</html>`

const link = (href: string, text: string, url: URL): Html =>
  html`<a href="${href}" ${url.pathname === href ? html`aria-current="page"` : ''}>${text}</a>`

const languageLink = (one: Language, chosen: Language, url: URL): Html => {
  const query = new URLSearchParams(url.searchParams)
  query.set('lang', one)
  const current = one === chosen ? html`aria-current="true"` : ''
  return html`<a href="${url.pathname}?${query}" lang="${one}" hreflang="${one}" ${current}>${LANGUAGE_NAMES[one]}</a>`
}

/** The hidden field without which no form of the console is taken. */
export const csrfField = ({ csrf }: View): Html => html`<input type="hidden" name="csrf" value="${csrf}">`

/** A sentence at the top of a page: what was done, or why nothing was. */
export const banner = (kind: 'good' | 'bad' | 'note', text: string): Html =>
  html`<p class="banner ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${text}</p>`
