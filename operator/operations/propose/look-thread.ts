import { parentPort, workerData } from 'node:worker_threads'
import { OperationError } from '../operation-error.ts'
import type { Look, LookAnswer } from './look-apart.ts'
import { proposeFor, testProfile } from './profile-sample.ts'

/* A thread that looks at one file, and tells what it found or why it is refused. */
const look = workerData as Look
const tell = (answer: LookAnswer): void => parentPort?.postMessage(answer)

try {
  tell({
    found:
      look.kind === 'test'
        ? await testProfile(look.path, look.judging)
        : await proposeFor(look.path, look.options, look.named),
  })
} catch (error) {
  if (!(error instanceof OperationError)) throw error
  tell({ refused: { name: error.name, sentence: error.sentence } })
}
