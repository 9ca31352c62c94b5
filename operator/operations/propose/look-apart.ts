import type { Preview } from '../../../functions/job/staging/preview-source.ts'
import type { Judging } from '../check-source.ts'
import { READING_MAX_MS, READINGS_AT_ONCE } from '../limits.ts'
import { OperationError, type OperationErrorName } from '../operation-error.ts'
import type { Named, Proposal, SampleOptions } from '../proposal.ts'
import { threadError } from '../read-apart.ts'
import { startThread } from '../threads.ts'
import { turnOf } from '../turns.ts'

type TestLook = { readonly kind: 'test'; readonly path: string; readonly judging: Judging }
type ProposeLook = {
  readonly kind: 'propose'
  readonly path: string
  readonly options: SampleOptions
  readonly named: Named
}
export type Look = TestLook | ProposeLook

export type LookAnswer =
  | { readonly found: Preview | Proposal }
  | { readonly refused: { readonly name: OperationErrorName; readonly sentence: string } }

/**
 * Looks at a file in a thread of its own, bounded as the check of a file is: the one that waits here keeps answering.
 * See decisions.md, "A file is checked in a thread of its own".
 *
 * @throws OperationError
 */
const lookApart = async (look: Look, signal: AbortSignal): Promise<Preview | Proposal> => {
  const turnEnds = await turnOf(READINGS_AT_ONCE, signal)
  const worker = startThread('look', look)
  const { promise, resolve, reject } = Promise.withResolvers<Preview | Proposal>()
  const giveUp = (sentence: string) => reject(new OperationError('Rejected', sentence))
  const clock = setTimeout(() => giveUp('Looking at the file takes too long.'), READING_MAX_MS)
  const leave = (): void => reject(new OperationError('Failed', 'The look at the file was ended.'))
  worker.on('message', (answer: LookAnswer) => {
    if ('found' in answer) resolve(answer.found)
    else reject(new OperationError(answer.refused.name, answer.refused.sentence))
  })
  worker.on('error', (error) => reject(threadError(error)))
  worker.once('exit', () => {
    turnEnds()
    reject(threadError('its thread ended'))
  })
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  try {
    return await promise
  } finally {
    clearTimeout(clock)
    signal.removeEventListener('abort', leave)
    await worker.terminate()
  }
}

/** What a profile makes of the first rows of a file of this machine. @throws OperationError */
export const testApart = async (path: string, judging: Judging, signal: AbortSignal): Promise<Preview> =>
  (await lookApart({ kind: 'test', path, judging }, signal)) as Preview

/** A profile for files like this one. @throws OperationError */
export const proposeApart = async (
  path: string,
  options: SampleOptions,
  named: Named,
  signal: AbortSignal,
): Promise<Proposal> => (await lookApart({ kind: 'propose', path, options, named }, signal)) as Proposal
