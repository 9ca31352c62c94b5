import { DueLines } from '../operator/format/due-lines.ts'
import { progressText } from '../operator/format/progress-text.ts'
import type { Operations } from '../operator/operations/operations.ts'
import type { Progress } from '../operator/operations/progress.ts'

/** Where lines can't be redrawn, one is written when the state changes; else after so long. */
const LINE_EVERY_MS = 1_000

/** Shows a run until it has ended, as `sharelock watch` does, and calls `onLook` with each look. @returns the last one */
export const follow = async (
  operations: Operations,
  executionArn: string,
  onLook: (progress: Progress) => void = () => undefined,
): Promise<Progress> => {
  const { stdout } = process
  const lines = new DueLines(LINE_EVERY_MS)
  const startedAt = performance.now()
  let last: Progress | undefined
  for await (const progress of operations.watch(executionArn)) {
    last = progress
    onLook(progress)
    if (progress.status !== 'RUNNING') break
    const text = progressText(progress)
    const line = `  ${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  ${text}`
    if (stdout.isTTY) stdout.write(`\r\u001b[2K${line.slice(0, stdout.columns - 1)}`)
    else if (lines.take(progress.at, text)) console.log(line)
  }
  if (last === undefined) throw new Error(`The execution ${executionArn} was not seen`)
  if (stdout.isTTY) stdout.write('\r\u001b[2K')
  const { failure, result } = last
  console.log(failure === null ? `  ${result}` : `  ended by ${failure.error}: ${failure.cause}\n  ${failure.remedy}`)
  return last
}
