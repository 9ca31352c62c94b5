import { OperationError } from '../operations.ts'

/** How many have a turn, and who waits for one, in the order in which they came. */
let taken = 0
const waiting: (() => void)[] = []

const pass = (): void => {
  taken -= 1
  waiting.shift()?.()
}

/**
 * Waits until fewer than `max` have a turn. @returns what ends the turn, once
 *
 * @throws OperationError Failed where the signal comes before the turn
 */
export const turnOf = async (max: number, signal: AbortSignal): Promise<() => void> => {
  while (taken >= max) {
    if (signal.aborted) break
    await new Promise<void>((resolve) => {
      waiting.push(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }
  if (signal.aborted) {
    // The turn that this one may have been woken for is another's.
    waiting.shift()?.()
    throw new OperationError('Failed', 'The check of the file was ended.')
  }
  taken += 1
  return pass
}
