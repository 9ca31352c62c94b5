import { createConnection } from 'mysql2/promise'
import { deleteAll, openChunkRun } from '../chunk-run.ts'
import { atMost, median, millis, ratio, whole } from '../figures.ts'
import { bareRegisterMs } from '../floor.ts'
import { emptySlice, fileOf, type Ground, measuredSlice, ready } from '../ground.ts'
import { type StagedFile, stageFile } from '../staged-file.ts'
import type { Section } from './section.ts'

const LAST_TO_FIRST_MAX = 2

/** Chunks at each end whose median stands for the end: one chunk alone may meet a flush of the disk. */
const END_CHUNKS = 5

type Ends = { readonly first: number; readonly last: number; readonly firstMs: number; readonly lastMs: number }

/** Deletes a full slice on one lane, so that chunks are in order. */
const deleteSlice = async (ground: Ground, staged: StagedFile): Promise<Ends> => {
  const slice = await measuredSlice(ground, 4)
  await emptySlice(ground, slice)
  await bareRegisterMs(ground.stack, slice, staged)
  const run = await openChunkRun(ground.stack, slice, staged, 1)
  await ready(ground)
  await deleteAll(run, staged)
  const durations = run.workers[0]?.chunkMs ?? []
  await run.close()
  return {
    first: durations[0] ?? Number.NaN,
    last: durations.at(-1) ?? Number.NaN,
    firstMs: median(durations.slice(0, END_CHUNKS)),
    lastMs: median(durations.slice(-END_CHUNKS)),
  }
}

/** Deletes while another connection holds a snapshot of before, so that no deleted row can be purged. */
const deleteBesideSnapshot = async (ground: Ground, staged: StagedFile): Promise<Ends> => {
  const { host, port, master, name } = ground.stack.database
  const old = await createConnection({ host, port, ...master, database: name })
  try {
    await old.query('set session transaction isolation level repeatable read')
    await old.query('start transaction with consistent snapshot')
    return await deleteSlice(ground, staged)
  } finally {
    old.destroy()
  }
}

const report = async (ground: Ground) => {
  const rows = ground.sizes.snapshotRows
  const staged = await stageFile(await fileOf(ground, rows))
  const without = await deleteSlice(ground, staged)
  const beside = await deleteBesideSnapshot(ground, staged)
  const growth = beside.lastMs / beside.firstMs
  const line = (name: string, ends: Ends) => [
    ...[name, millis(ends.firstMs), millis(ends.lastMs), ratio(ends.lastMs / ends.firstMs)],
    ...[millis(ends.first), millis(ends.last)],
  ]
  return {
    tables: [
      {
        title: `Deleting ${whole(rows)} rows, one lane; medians of ${END_CHUNKS} chunks at each end`,
        head: ['', 'first chunks, ms', 'last chunks, ms', 'ratio', 'very first, ms', 'very last, ms'],
        rows: [line('no snapshot', without), line('beside an old snapshot', beside)],
      },
    ],
    charts: [],
    verdicts: [atMost('last chunk beside an old snapshot, of the first:', growth, LAST_TO_FIRST_MAX, ratio(growth))],
    notes: [],
  }
}

export const snapshot: Section = {
  name: 'snapshot',
  title: 'Beside an old snapshot',
  about:
    'A reader holds a snapshot from before the delete, so that no deleted row can be purged. A delete that walks over its own deleted rows gets slower with every chunk.',
  needs: 'ground',
  measure: report,
}
