import './node-20.ts'
import * as modules from 'node:module'
import { isMainThread } from 'node:worker_threads'
import { OPERATION_ERRORS } from '../../operations/operation-error.ts'
import type { ThreadName } from '../../operations/threads.ts'

/* The installed command, and the threads that it starts: what `npm pack` packs begins here. */
const NODE_MIN = 20
const [, , thread] = process.argv

if (Number.parseInt(process.versions.node, 10) < NODE_MIN) {
  console.error(`This is Node ${process.versions.node}, and sharelock needs Node ${NODE_MIN} or newer.`)
  process.exitCode = OPERATION_ERRORS.Usage
} else if (isMainThread) {
  // Not in Node 20. Compiled code is kept between calls, which halves the time until a call answers.
  modules.enableCompileCache?.()
  await import('../main.ts')
} else if (thread === ('reader' satisfies ThreadName)) {
  await import('../../operations/reader-thread.ts')
} else {
  await import('../../operations/propose/look-thread.ts')
}
