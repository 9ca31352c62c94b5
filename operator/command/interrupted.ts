/** What a shell expects of a program that Ctrl-C ended. */
export const INTERRUPTED = 130

/** Ctrl-C where something was asked: nothing is begun. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'

  constructor() {
    super('Interrupted: nothing was started or changed.')
  }
}

/**
 * Ends a call that Ctrl-C reaches while nobody else listens for it, and says so: Node would die without a word. Whether a
 * request that was on its way has been taken is not known here.
 */
export const endWhenInterrupted = (): void => {
  process.on('SIGINT', () => {
    if (process.listenerCount('SIGINT') > 1) return
    process.stderr.write('\nInterrupted. What was on its way to AWS may have been done: `sharelock list` shows it.\n')
    process.exit(INTERRUPTED)
  })
}
