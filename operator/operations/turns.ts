import { OperationError } from './operation-error.ts'

/** How many have a turn, and who waits for one, in the order in which they came. */
let taken = 0
const waiting: (() => void)[] = []

/** The next in line has the turn from here on, before anybody who comes later can take it. */
const pass = (): void => {
  const next = waiting.shift()
  if (next === undefined) taken -= 1
  else next()
}

/**
 * Waits until fewer than `max` have a turn. @returns what ends the turn, once
 *
 * @throws OperationError Failed where the signal comes before the turn
 */
export const turnOf = async (max: number, signal: AbortSignal): Promise<() => void> => {
  const ended = () => new OperationError('Failed', 'The check of the file was ended.')
  if (signal.aborted) throw ended()
  if (taken < max) {
    taken += 1
    return pass
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const leave = (): void => {
    const index = waiting.indexOf(resolve)
    // Not in line any more: the turn is its own already, and ends as every other.
    if (index === -1) return
    waiting.splice(index, 1)
    reject(ended())
  }
  waiting.push(resolve)
  signal.addEventListener('abort', leave, { once: true })
  await promise.finally(() => signal.removeEventListener('abort', leave))
  return pass
}
