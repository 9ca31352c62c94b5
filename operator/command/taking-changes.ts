import { streamChanges } from '../operations/change-stream.ts'
import type { ChangeSinks } from '../operations/changes.ts'
import { isGzip, saveStream } from './save-lines.ts'

/** Files for the changed rows and for the parties; undefined: nobody asked for them. */
type Paths = { readonly rows: string | undefined; readonly parties: string | undefined }

async function* each(lines: Iterable<string>): AsyncGenerator<string> {
  yield* lines
}

/** Runs a comparison whose changed rows, and parties, go to new files. */
export const takingChanges = async <T>(
  { rows, parties }: Paths,
  run: (sinks: ChangeSinks) => Promise<T>,
): Promise<T> => {
  const toParties: ChangeSinks['parties'] =
    parties === undefined ? undefined : async (lines) => void (await saveStream(each(lines), parties, isGzip(parties)))
  if (rows === undefined) return await run({ parties: toParties })
  const { lines, found } = streamChanges((toRows) => run({ rows: toRows, parties: toParties }))
  // It says why: a set that cannot be read breaks its stream, and a full disk only makes the comparison end unread.
  found.catch(() => undefined)
  await saveStream(lines, rows, isGzip(rows))
  return await found
}
