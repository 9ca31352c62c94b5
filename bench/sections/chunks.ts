import { setTimeout as sleep } from 'node:timers/promises'
import { CHUNK_ROWS_MAX } from '../../functions/contract/limits.ts'
import type { Slice } from '../../functions/contract/words.ts'
import { exclusively } from '../../functions/store/job/held.ts'
import { Database } from '../../functions/store/mysql/database.ts'
import { type ChunkRun, deleteAll, openChunkRun, registerAll } from '../harness/chunk-run.ts'
import { median, millis, rateOf, whole } from '../harness/figures.ts'
import { bareRegisterMs, LANES } from '../harness/floor.ts'
import { longestTransactionMs } from '../harness/server.ts'
import { type StagedFile, stageFile } from '../harness/staged-file.ts'
import { emptySlice, fileOf, measuredSlice, ready, type Testbed } from '../harness/testbed.ts'
import type { Section } from './section.ts'

/** The default is right where its transactions stay short, and of the sizes for which they do it comes close to the best rate. */
const OF_THE_BEST_MIN = 0.9
const TRANSACTION_MS_MAX = 500
const RAISE_EVERY_MS = 250

type Figures = {
  readonly chunkRows: number
  readonly staged: StagedFile
  readonly deleteMs: number[]
  readonly registerMs: number[]
  longestMs: number
  readonly raiseMs: number[]
}

/** How long it takes to hold the job row exclusively, as every raise of a fence does, while `work` runs. */
const raisesDuring = async (testbed: Testbed, { guarded }: ChunkRun, work: Promise<unknown>): Promise<number[]> => {
  const database = new Database(testbed.stack.database.appAddress)
  await database.rows('select 1')
  const taken: number[] = []
  let running = true
  const end = () => {
    running = false
  }
  work.then(end, end)
  while (running) {
    const startedAt = performance.now()
    await exclusively(database, guarded.job.id, async () => undefined)
    taken.push(performance.now() - startedAt)
    await sleep(RAISE_EVERY_MS)
  }
  await database.close()
  await work
  return taken
}

/** One replacement with chunks of one size. Raises make the lanes wait, so a round has them or is timed. */
const measureRound = async (testbed: Testbed, slice: Slice, figures: Figures, timed: boolean): Promise<void> => {
  const { stack, setting } = testbed
  const { staged } = figures
  const run = await openChunkRun(stack, slice, staged)
  await ready(testbed)
  const deleting = deleteAll(run, staged)
  if (!timed) figures.raiseMs.push(...(await raisesDuring(testbed, run, deleting)))
  const deleteMs = await deleting
  const registering = registerAll(run)
  if (!timed) figures.raiseMs.push(...(await raisesDuring(testbed, run, registering)))
  const registerMs = await registering
  if (timed) {
    figures.deleteMs.push(deleteMs)
    figures.registerMs.push(registerMs)
    const longestMs = await longestTransactionMs(setting.database, stack.database.app.user)
    figures.longestMs = Math.max(figures.longestMs, longestMs)
  }
  await run.close()
}

/** Every size once a round, up and down in turn: the machine's own pace changes within minutes. */
const measure = async (testbed: Testbed): Promise<Figures[]> => {
  const { stack, sizes } = testbed
  const path = await fileOf(testbed, sizes.rows)
  const all: Figures[] = []
  for (const chunkRows of sizes.chunkRows) {
    const staged = await stageFile(path, chunkRows)
    all.push({ chunkRows, staged, deleteMs: [], registerMs: [], longestMs: 0, raiseMs: [] })
  }
  const slice = await measuredSlice(testbed, 3)
  await emptySlice(testbed, slice)
  const [first] = all
  if (first !== undefined) await bareRegisterMs(stack, slice, first.staged)
  for (let round = 0; round <= sizes.rounds; round += 1) {
    for (const figures of round % 2 === 0 ? all : all.toReversed())
      await measureRound(testbed, slice, figures, round < sizes.rounds)
    testbed.say(`round ${round + 1} of ${sizes.rounds + 1}`)
  }
  await emptySlice(testbed, slice)
  return all
}

const report = async (testbed: Testbed) => {
  const { rows } = testbed.sizes
  const figures = await measure(testbed)
  // Both ways together: a size that is good for one and bad for the other is not good.
  const rateBoth = (one: Figures) => rateOf(2 * rows, median(one.deleteMs) + median(one.registerMs))
  const short = figures.filter(({ longestMs }) => longestMs < TRANSACTION_MS_MAX)
  const best = Math.max(...short.map(rateBoth))
  const standard = figures.find((one) => one.chunkRows === CHUNK_ROWS_MAX)
  const share = standard === undefined ? Number.NaN : rateBoth(standard) / best
  const standardMs = standard?.longestMs ?? Number.NaN
  const labels = figures.map((one) => whole(one.chunkRows))
  return {
    tables: [
      {
        title: `${whole(rows)} rows by the size of a chunk, ${LANES} lanes, medians of ${testbed.sizes.rounds} rounds, the sizes in turn`,
        head: [
          'rows of a chunk',
          'delete, rows/s',
          'register, rows/s',
          'longest transaction, ms',
          'fence raise, median ms',
          'longest ms',
        ],
        rows: figures.map((one) => [
          one.chunkRows === CHUNK_ROWS_MAX ? `${whole(one.chunkRows)} (default)` : whole(one.chunkRows),
          ...[whole(rateOf(rows, median(one.deleteMs))), whole(rateOf(rows, median(one.registerMs)))],
          ...[millis(one.longestMs), millis(median(one.raiseMs)), millis(Math.max(...one.raiseMs))],
        ]),
      },
    ],
    charts: [
      { title: 'Rows per second both ways, by rows of a chunk', unit: 'rows/s', labels, values: figures.map(rateBoth) },
      {
        title: 'Longest transaction, by rows of a chunk',
        unit: 'ms',
        labels,
        values: figures.map((one) => one.longestMs),
      },
      {
        title: 'Longest fence raise, by rows of a chunk',
        unit: 'ms',
        labels,
        values: figures.map((one) => Math.max(...one.raiseMs)),
      },
    ],
    verdicts: [
      {
        target: `the default chunk: transactions under ${TRANSACTION_MS_MAX} ms, and at least ${OF_THE_BEST_MIN} of the best rate of the sizes that keep to it`,
        measured: `${millis(standardMs)} ms; ${share.toFixed(2)} of the best`,
        met: share >= OF_THE_BEST_MIN && standardMs < TRANSACTION_MS_MAX,
      },
    ],
    notes: [
      'Lock, guard, ledger and transitions are the system’s own; the lanes run in one process here, as the size of a chunk is a constant of the deployed code. A fence raise is the time to hold the job row exclusively while all lanes write.',
    ],
  }
}

export const chunks: Section = {
  name: 'chunks',
  title: 'Rows of a chunk',
  about:
    'The same delete and load with chunks around the default size: throughput, the longest transaction, and how long a take-over waits.',
  needs: 'testbed',
  measure: report,
}
