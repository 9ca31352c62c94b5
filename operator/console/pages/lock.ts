import { html } from 'hono/html'
import type { LockReport, SliceReport } from '../../../functions/contract/reports.ts'

import type { Html } from '../parts/format.ts'
import type { Words } from '../words/en.ts'

/** How long a lock lasts; one without an end has to be unlocked. */
export const remaining = (words: Words, { remainingMs }: LockReport): string =>
  remainingMs === null ? words.endless : words.duration(remainingMs / 1_000)

/**
 * Who holds the slice's lock and for how long. The token itself is never shown: anyone who has it can release the lock.
 */
export const lockPanel = (words: Words, { lock, distributor, month }: SliceReport): Html => html`
  <section class="panel" aria-labelledby="lock">
    <h2 id="lock">${words.lock}</h2>
    ${
      lock === null
        ? html`<p>${words.lockFree}</p>`
        : lock === 'unreachable'
          ? html`<p>${words.lockUnreachable}</p>`
          : html`<dl class="facts">
              <dt>${words.holder}</dt><dd><code>${lock.holder}</code></dd>
              <dt>${words.remaining}</dt><dd>${remaining(words, lock)}</dd>
              <dt>${words.tokenDigest}</dt><dd><code>${lock.tokenDigest}</code></dd>
              <dt>${words.job}</dt><dd>${lock.job ?? words.lockOfNoJob}</dd>
            </dl>
            <p><a id="unlock" class="button quiet" href="/slices/${distributor}/${month}/ask/unlock">${words.unlock}</a></p>`
    }
  </section>`
