import { Worker } from 'node:worker_threads'
import { READER_HEAP_MB } from './limits.ts'

/** What is run as a thread of its own, and its file, seen from here. */
const THREADS = { reader: 'reader-thread.ts', look: 'propose/look-thread.ts' } as const
export type ThreadName = keyof typeof THREADS

/** Bundled, the entry is every thread too, and is told which: this file itself, or the one above the folder of parts. */
const HERE = import.meta.url
const isBundled = !HERE.endsWith('/threads.ts')
const ENTRY = new URL(HERE).pathname.includes('/parts/') ? '../sharelock.mjs' : HERE

/** Starts a thread, bounded in memory. */
export const startThread = (name: ThreadName, workerData: unknown): Worker =>
  new Worker(new URL(isBundled ? ENTRY : THREADS[name], HERE), {
    argv: [name],
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: READER_HEAP_MB },
  })
