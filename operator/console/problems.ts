import { messageOf } from '../../functions/contract/failures.ts'
import { OperationError, type OperationErrorName } from '../operations/operation-error.ts'
import { ForeignRequest } from './browser-session.ts'
import { answer, type Console, type ConsoleRequest, viewOf } from './context.ts'
import { problemPage, problemTitle } from './pages/problem.ts'
import { MalformedUpload, UploadTooLarge } from './upload.ts'
import type { Words } from './words/en.ts'

export const STATUS_OF = {
  Failed: 500,
  Usage: 400,
  Rejected: 422,
  Busy: 409,
  Halted: 409,
  Unconfirmed: 422,
  Unreachable: 503,
  NotFound: 404,
  Findings: 409,
  PlanMoved: 409,
} as const satisfies Record<OperationErrorName, number>

/** Whatever was thrown, as a page: a sentence, and what to do. An outage's page asks again by itself where it may. */
export const problem = async (desk: Console, c: ConsoleRequest, error: unknown): Promise<Response> => {
  const view = viewOf(desk, c)
  const { words } = view
  if (error instanceof ForeignRequest)
    return await answer(desk, c, view, problemPage(view, 'Usage', words.problemForged, false), 403)
  if (error instanceof UploadTooLarge)
    return await answer(desk, c, view, problemPage(view, 'Usage', words.problemTooLarge, false), 413)
  if (error instanceof MalformedUpload)
    return await answer(desk, c, view, problemPage(view, 'Usage', words.problemMalformed, false), 400)
  const name = error instanceof OperationError ? error.name : 'Failed'
  // A form that was sent is not sent again by a page that refreshes itself.
  const canRetry = c.req.method === 'GET'
  return await answer(desk, c, view, problemPage(view, name, sentences(words, error), canRetry), STATUS_OF[name])
}

/** What went wrong, which is the same in any language, and then the remedy in the page's. */
const sentences = (words: Words, error: unknown): string =>
  error instanceof OperationError && error.remedy !== null
    ? `${error.sentence} ${words.remedy(error.remedy)}`
    : messageOf(error)

/** A refusal in one line, for the form that comes back: its kind and its remedy in the page's language. */
export const problemLine = (words: Words, error: OperationError): string =>
  `${problemTitle(words, error.name)}: ${sentences(words, error)}`
