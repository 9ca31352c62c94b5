import { PassThrough, type Readable } from 'node:stream'
import type { ChangeLines } from './changes.ts'

/**
 * Runs a comparison whose changed rows are a stream: it waits for whoever reads them, so that neither side keeps all of
 * them in memory. A reader who goes ends the comparison, and a comparison that fails breaks the stream.
 */
export const streamChanges = <T>(
  run: (take: ChangeLines) => Promise<T>,
): { readonly lines: Readable; readonly found: Promise<T> } => {
  const lines = new PassThrough()
  let goOn: () => void = () => undefined
  // One listener each for the whole stream: the comparison waits thousands of times.
  for (const event of ['drain', 'close', 'error']) lines.on(event, () => goOn())
  const take: ChangeLines = async (csv) => {
    if (!lines.destroyed && !lines.write(csv))
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
    if (lines.destroyed) throw new Error('Nobody reads the changed rows any more.')
  }
  const found = run(take)
  found.then(
    () => lines.end(),
    (error: Error) => lines.destroy(error),
  )
  return { lines, found }
}
