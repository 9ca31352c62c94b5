import { isMainThread } from 'node:worker_threads'
import { OPERATION_ERRORS } from '../../operations/operation-error.ts'
import type { ThreadName } from '../../operations/threads.ts'

/* The one file that a distributor gets: the command's part that needs no AWS, and the threads that it starts. */
const NODE_MIN = 22
const [, , thread] = process.argv

if (Number.parseInt(process.versions.node, 10) < NODE_MIN) {
  console.error(`This is Node ${process.versions.node}, and the program needs Node ${NODE_MIN} or newer.`)
  process.exitCode = OPERATION_ERRORS.Usage
} else if (isMainThread) {
  const { runProgram } = await import('../run-program.ts')
  const { buildAlone } = await import('./program.ts')
  await runProgram(buildAlone())
} else if (thread === ('reader' satisfies ThreadName)) {
  await import('../../operations/reader-thread.ts')
} else {
  await import('../../operations/propose/look-thread.ts')
}
