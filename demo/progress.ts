import { setTimeout as sleep } from 'node:timers/promises'
import type { JobState, Phase } from '../functions/contract/words.ts'
import { progressOf } from '../functions/store/job/ledger.ts'
import type { Database } from '../functions/store/mysql/database.ts'

/** How far the newest job of a slice is. */
export type Progress = {
  readonly job: number
  readonly state: JobState
  readonly source: string
  readonly rows: number
  readonly markedRows: number
}

export const readProgress = async (database: Database, distributor: string, month: string, after: number) => {
  const [job] = await database.rows<{ id: number; state: JobState; source_digest: string }>(
    `select j.id, j.state, j.source_digest from job j join distributor d on d.id = j.distributor_id
     where d.code = ? and j.settlement_month = ? and j.id > ? order by j.fence desc limit 1`,
    [distributor, `${month}-01`, after],
  )
  if (job === undefined) return undefined
  const phase: Phase = job.state === 'DELETING' || job.state === 'DELETED' ? 'delete' : 'register'
  const { rows, markedRows } = await progressOf(database, job.id, phase)
  return { job: job.id, state: job.state, source: job.source_digest, rows, markedRows }
}

const PERIOD_MS = 200
const PLAIN_PERIOD_MS = 1_000
const number = (value: number): string => Math.round(value).toLocaleString('en-US')

/** One line of progress: rewritten in place on a terminal, once a second and at each change of state elsewhere. */
class ProgressLine {
  #state = ''
  #stateAt = 0
  #printedAt = 0

  show(progress: Progress | undefined, startedAt: number): void {
    const now = performance.now()
    const state = progress?.state ?? 'staging'
    const changed = state !== this.#state
    if (changed) this.#stateAt = now
    this.#state = state
    const text = `  ${((now - startedAt) / 1_000).toFixed(1).padStart(6)} s  ${state.padEnd(11)} ${this.#detail(progress, now)}`
    if (process.stdout.isTTY) process.stdout.write(`\r${text.padEnd(90)}`)
    else if (changed || now - this.#printedAt > PLAIN_PERIOD_MS) {
      console.log(text.trimEnd())
      this.#printedAt = now
    }
  }

  #detail(progress: Progress | undefined, now: number): string {
    if (progress === undefined) return 'reading and validating the file; nothing is locked or deleted yet'
    const { rows, markedRows } = progress
    const done = `${number(markedRows).padStart(11)} of ${number(rows)} rows`
    if (progress.state === 'DELETED' || progress.state === 'REGISTERED') return done
    if (rows === 0) return 'planning'
    const rate = markedRows / Math.max((now - this.#stateAt) / 1_000, 0.1)
    const left = markedRows > 0 && markedRows < rows ? `${Math.ceil((rows - markedRows) / rate)} s left` : ''
    return `${done}  ${number(rate).padStart(8)} rows/s  ${left}`
  }

  end(): void {
    if (process.stdout.isTTY) process.stdout.write('\n')
  }
}

/**
 * Shows the progress of a slice's next job until `ended` settles, and calls `onProgress` with every look at it.
 *
 * @param after jobs up to this id are old
 */
export const watch = async <Result>(
  database: Database,
  slice: { readonly distributor: string; readonly month: string },
  after: number,
  ended: Promise<Result>,
  onProgress: (progress: Progress) => void = () => undefined,
): Promise<Result> => {
  const line = new ProgressLine()
  const startedAt = performance.now()
  let running = true
  const stop = () => {
    running = false
  }
  ended.then(stop, stop)
  while (running) {
    const progress = await readProgress(database, slice.distributor, slice.month, after)
    line.show(progress, startedAt)
    if (progress !== undefined) onProgress(progress)
    await sleep(PERIOD_MS)
  }
  const last = await readProgress(database, slice.distributor, slice.month, after)
  if (last !== undefined) line.show(last, startedAt)
  line.end()
  return await ended
}
