import { html } from 'hono/html'
import type { JobReport } from '../../../functions/contract/reports.ts'
import { JOB_STATES, type JobState } from '../../../functions/contract/words.ts'

import { type Html, secondsBetween, time } from '../parts/format.ts'
import type { Words } from '../words/en.ts'
import { type BadgeShape, shape } from './badge.ts'

/** When each state was reached. A job is opened in DELETING. */
const reachedOf = ({ at }: JobReport): Record<JobState, string | null> => ({
  DELETING: at.created,
  DELETED: at.deleted,
  REGISTERING: at.registering,
  REGISTERED: at.registered,
})

/** The four states of a job in their order: which were reached and when, which is now, where it halted. */
export const timeline = (words: Words, job: JobReport): Html => {
  const now = JOB_STATES.indexOf(job.state)
  return html`<ol class="timeline" aria-label="${words.states}">
    ${JOB_STATES.map((state, index) => {
      const name = shapeAt(job, index - now)
      return html`<li class="${name}" ${index === now ? html`aria-current="step"` : ''}>
        <span class="state">${shape(name)}${state}</span>
        <span class="at">${reachedAt(words, job, state, index - now)}</span>
        <span class="note">${isHere(job, index - now) ? hereWord(words, job) : timeIn(words, job, state)}</span>
      </li>`
    })}
  </ol>`
}

/** @param steps from the job's state to the one asked about: 0 is here, 1 is next */
const isHere = (job: JobReport, steps: number): boolean => steps === 0 && job.state !== 'REGISTERED'

const shapeAt = (job: JobReport, steps: number): BadgeShape => {
  if (steps > 0) return 'none'
  if (!isHere(job, steps)) return 'settled'
  return job.status === 'being replaced' ? 'running' : 'halted'
}

const reachedAt = (words: Words, job: JobReport, state: JobState, steps: number): Html | string => {
  const at = reachedOf(job)[state]
  return at !== null && steps <= 0 ? time(at) : stepWord(words, job)
}

/** How long the job was in a state; empty while it has not left it. */
const timeIn = (words: Words, job: JobReport, state: JobState): string => {
  const reached = reachedOf(job)
  const next = JOB_STATES[JOB_STATES.indexOf(state) + 1]
  const [at, until] = [reached[state], next === undefined ? null : reached[next]]
  return at === null || until === null ? '' : words.duration(secondsBetween(at, until))
}

const stepWord = (words: Words, job: JobReport): string =>
  job.status === 'closed' ? words.stateNever : words.stateNotYet

const hereWord = (words: Words, { status }: JobReport): string =>
  status === 'being replaced' ? words.stateNow : status === 'halted' ? words.stateHere : words.statusClosed
