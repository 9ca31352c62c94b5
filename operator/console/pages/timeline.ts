import { html } from 'hono/html'
import type { JobReport } from '../../../functions/contract/reports.ts'
import { JOB_STATES, type JobState } from '../../../functions/contract/words.ts'

import { type Html, secondsBetween, time } from '../format.ts'
import type { Words } from '../words/en.ts'
import { shape } from './mark.ts'

/** When each state was reached. A job is opened in DELETING. */
const reachedOf = ({ at }: JobReport): Record<JobState, string | null> => ({
  DELETING: at.created,
  DELETED: at.deleted,
  REGISTERING: at.registering,
  REGISTERED: at.registered,
})

/** The four states of a job in their order: which were reached and when, which is now, where it halted. */
export const timeline = (words: Words, job: JobReport): Html => {
  const reached = reachedOf(job)
  const now = JOB_STATES.indexOf(job.state)
  return html`<ol class="timeline" aria-label="${words.states}">
    ${JOB_STATES.map((state, index) => {
      const at = reached[state]
      const next = JOB_STATES[index + 1]
      const until = next === undefined ? null : reached[next]
      const isHere = index === now && job.state !== 'REGISTERED'
      const standing =
        index > now ? 'none' : !isHere ? 'settled' : job.status === 'being replaced' ? 'running' : 'halted'
      return html`<li class="${standing}" ${index === now ? html`aria-current="step"` : ''}>
        <span class="state">${shape(standing)}${state}</span>
        <span class="at">${at !== null && index <= now ? time(at) : stepWord(words, job)}</span>
        <span class="note">${isHere ? hereWord(words, job) : at !== null && until !== null ? words.duration(secondsBetween(at, until)) : ''}</span>
      </li>`
    })}
  </ol>`
}

const stepWord = (words: Words, job: JobReport): string =>
  job.status === 'superseded' ? words.stateNever : words.stateNotYet

const hereWord = (words: Words, { status }: JobReport): string =>
  status === 'being replaced' ? words.stateNow : status === 'halted' ? words.stateHere : words.statusSuperseded
