import { messageOf } from '../../functions/contract/failures.ts'
import type { Judging } from './check-source.ts'
import type { RowSet } from './difference.ts'
import { READER_HEAP_MB, READING_MAX_MS, READINGS_AT_ONCE } from './limits.ts'
import { OperationError } from './operation-error.ts'
import type { FromReader, ToReader } from './reading-messages.ts'
import type { OnRows, Validation } from './start-plan.ts'
import { startThread } from './threads.ts'
import { turnOf } from './turns.ts'

/** What reading a file came to; `rows` are its rows where it was accepted, and can be read until the signal. */
export type Reading = { readonly validation: Validation; readonly rows: RowSet | null }

export type ReadingOptions = {
  readonly onRows?: OnRows | undefined
  /** Ends the reading, and the thread that keeps the rows: it has to come in any case. */
  readonly signal: AbortSignal
}

/** Behind the bytes of each of several files; known by itself, and not by being empty. */
export const PART_END: Buffer = Buffer.alloc(0)

type Settle<T> = { readonly resolve: (value: T) => void; readonly reject: (error: unknown) => void }

const minutes = READING_MAX_MS / 60_000

/** Why a thread ended that should not have. */
export const threadError = (error: unknown): OperationError =>
  (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new OperationError('Rejected', `The file takes more than ${READER_HEAP_MB} MB of memory to check.`, error)
    : new OperationError('Failed', `The file could not be checked: ${messageOf(error)}.`, error)

/**
 * Reads a file in a thread of its own: whatever is in it, the one that waits here keeps answering and can be
 * interrupted. The thread is bounded in memory and time, and few run at once; the bytes are asked for here, one piece
 * after the other.
 * See decisions.md, "A file is checked in a thread of its own".
 *
 * @throws OperationError Rejected, Failed, and what `bytes` throws
 */
export const readApart = async (
  bytes: AsyncIterable<Buffer>,
  { rules, profile, month, parts }: Judging,
  { onRows, signal }: ReadingOptions,
): Promise<Reading> => {
  const turnEnds = await turnOf(READINGS_AT_ONCE, signal)
  const { sumRule, partyScheme, overClaim } = rules
  const judging: Judging = { rules: { sumRule, partyScheme, overClaim }, profile, month, parts }
  const worker = startThread('reader', judging)
  const input = bytes[Symbol.asyncIterator]()
  const bodies = new Map<number, Settle<Buffer>>()
  const tell = (message: ToReader): void => worker.postMessage(message)
  const read = Promise.withResolvers<Reading>()
  const fail = (error: unknown): void => {
    read.reject(error)
    for (const { reject } of bodies.values()) reject(error)
    void worker.terminate()
  }
  const feed = async (): Promise<void> => {
    const { done, value } = await input.next()
    tell(done === true || value === PART_END ? { kind: 'end' } : { kind: 'bytes', bytes: value })
  }
  const body = (number: number): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      bodies.set(number, { resolve, reject })
      tell({ kind: 'body', number })
    })
  const take = (message: FromReader): void => {
    if (message.kind === 'more') void feed().catch(fail)
    else if (message.kind === 'rows') onRows?.(message.rows)
    else if (message.kind === 'read')
      read.resolve({ validation: message.validation, rows: message.chunks && { chunks: message.chunks, body } })
    else {
      bodies.get(message.number)?.resolve(Buffer.from(message.bytes))
      bodies.delete(message.number)
    }
  }
  const slow = `Checking the file takes longer than ${minutes} minutes, and a run takes no longer than that either.`
  const clock = setTimeout(() => fail(new OperationError('Rejected', slow)), READING_MAX_MS)
  worker.on('message', take)
  worker.on('error', (error) => fail(threadError(error)))
  worker.once('exit', () => {
    turnEnds()
    fail(threadError('its thread ended'))
  })
  signal.addEventListener('abort', () => fail(new OperationError('Failed', 'The check of the file was ended.')))
  if (signal.aborted) fail(new OperationError('Failed', 'The check of the file was ended.'))
  try {
    return await read.promise
  } finally {
    clearTimeout(clock)
    // Not awaited: a source that keeps silent would keep its reader.
    void input.return?.().catch(() => undefined)
  }
}
