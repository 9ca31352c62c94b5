import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { checkSource, type Judging } from './check-source.ts'
import type { FromReader, ToReader } from './reading-messages.ts'

/*
 * A thread that reads one file: it asks for its bytes piece by piece, tells the verdict, and then makes chunks of an
 * accepted file for the comparison, until it is ended.
 */
const port = parentPort
if (port === null) throw new Error('This file is run as a thread')
const tell = (message: FromReader): void => port.postMessage(message)

async function* asked(): AsyncGenerator<Buffer> {
  for (;;) {
    const answer = once(port as NonNullable<typeof port>, 'message') as Promise<[ToReader]>
    tell({ kind: 'more' })
    const [message] = await answer
    if (message.kind !== 'bytes') return
    yield Buffer.from(message.bytes.buffer, message.bytes.byteOffset, message.bytes.byteLength)
  }
}

const { validation, source } = await checkSource(asked, workerData as Judging, (rows) => tell({ kind: 'rows', rows }))
if (source !== null)
  port.on('message', (message: ToReader) => {
    if (message.kind === 'body') tell({ kind: 'body', number: message.number, bytes: source.body(message.number) })
  })
tell({ kind: 'read', validation, chunks: source?.manifest.chunks ?? null })
