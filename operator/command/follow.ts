import { sliceOptions } from '../../functions/contract/remedies.ts'
import { DueLines } from '../format/due-lines.ts'
import { progressText } from '../format/progress-text.ts'
import type { Operations } from '../operations/operations.ts'
import type { Progress } from '../operations/progress.ts'
import type { CommandContext } from './command-context.ts'
import { endLines, exitCodeOf } from './end-text.ts'
import { INTERRUPTED } from './interrupted.ts'

/** Where lines can't be redrawn, one is written when the state changes; else after so long, if there is anything new. */
const LINE_EVERY_MS = 5_000

/** How following ended: the run's last look, or none where the watcher left first. */
export type Followed = { readonly code: number; readonly end: Progress | null }

/**
 * Shows a run until it ends. Ctrl-C ends the watching and not the run.
 *
 * @param onLook called with each look, e.g. to write it as a JSON line
 */
export const follow = async (
  { out }: CommandContext,
  operations: Operations,
  executionArn: string,
  onLook: (progress: Progress) => void = () => undefined,
): Promise<Followed> => {
  const leaving = new AbortController()
  const leave = (): void => leaving.abort()
  process.once('SIGINT', leave)
  let end: Progress | null = null
  const lines = new DueLines(LINE_EVERY_MS)
  try {
    for await (const progress of operations.watch(executionArn, leaving.signal)) {
      onLook(progress)
      end = progress
      if (progress.status !== 'RUNNING') break
      const text = progressText(progress)
      if (out.isTerminal) out.draw(progressText(progress, out.columns - 1))
      // Trouble, and its end, are said at once.
      else if (lines.take(`${progress.at} ${progress.trouble}`, text)) out.note(text)
    }
  } finally {
    process.removeListener('SIGINT', leave)
  }
  if (end === null || end.status === 'RUNNING') {
    const again = end === null ? '' : ` Watch it again: sharelock watch ${sliceOptions(end)}`
    out.say(`No longer watching; the run goes on.${again}`)
    return { code: INTERRUPTED, end: null }
  }
  out.say(...endLines(out, end))
  return { code: exitCodeOf(end), end }
}
