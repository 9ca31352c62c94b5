import { join } from 'node:path'

/** The project's root, whatever the working directory is. */
export const ROOT = join(import.meta.dirname, '..', '..')

/** Everything the local stack writes is here; it may be deleted whenever nothing runs. */
export const LOCAL = join(ROOT, '.local')

/** One folder per run: server data, staged files, logs. Kept short, as Unix sockets and log lines carry it. */
export const RUNS = join(LOCAL, 'runs')
