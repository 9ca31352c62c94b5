import { html } from 'hono/html'
import { count } from '../../../functions/contract/numbers.ts'
import { visible } from '../../../functions/contract/visible.ts'
import { WARNING_NAMES, type WarningName } from '../../../functions/contract/warnings.ts'
import type { StartPlan } from '../../operations/start-plan.ts'
import type { Html } from '../parts/format.ts'
import type { Words } from '../words/en.ts'
import { banner } from './layout.ts'

const field = (name: WarningName): string => `accept-${name}`

/** The warnings whose boxes were ticked. */
export const acceptedOf = (fields: Readonly<Record<string, string>>): WarningName[] =>
  WARNING_NAMES.filter((name) => fields[field(name)] === '1')

/** What is legal in a file and probably a mistake, with its first places. */
export const warningsPanel = (words: Words, { warnings, wereConfirmed }: StartPlan): Html =>
  warnings.length === 0
    ? html``
    : html`<section class="panel" aria-labelledby="warnings">
        <h2 id="warnings">${words.warnings}</h2>
        <p>${wereConfirmed ? words.wereConfirmed : words.warningsLead}</p>
        <dl>${warnings.map(
          (warning) => html`<dt><code>${warning.name}</code> · ${words.warningRows(count(warning.count))}</dt>
          <dd>${words.warningSentence(warning)}
            ${warning.examples.map(({ line, value }) => html`<br>${words.warningLine(count(line ?? 0))}: <code>${visible(value)}</code>`)}</dd>`,
        )}</dl>
      </section>`

/** One box for each warning: none of them is confirmed by the way. */
export const acceptBoxes = (words: Words, { warnings, wereConfirmed, joins }: StartPlan): Html =>
  wereConfirmed || joins !== null || warnings.length === 0
    ? html``
    : html`${banner('note', words.warningsLead)}
      ${warnings.map(
        ({ name }) =>
          html`<label class="tick"><input type="checkbox" name="${field(name)}" value="1" required>${words.accept(name)}</label>`,
      )}`
