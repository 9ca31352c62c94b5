import { createConnection } from 'mysql2/promise'
import { deleteAll, openChunkRun } from '../harness/chunk-run.ts'
import { atMost, median, millis, ratio, whole } from '../harness/figures.ts'
import { bareRegisterMs } from '../harness/floor.ts'
import { type StagedFile, stageFile } from '../harness/staged-file.ts'
import { emptySlice, fileOf, measuredSlice, ready, type Testbed } from '../harness/testbed.ts'
import type { Section } from './section.ts'

const LAST_TO_FIRST_MAX = 2

/** Chunks at each end whose median is the figure of the end: one chunk alone may meet a flush of the disk. */
const END_CHUNKS = 5

type Ends = { readonly first: number; readonly last: number; readonly firstMs: number; readonly lastMs: number }

/** Deletes a full slice on one lane, so that chunks are in order. */
const deleteSlice = async (testbed: Testbed, staged: StagedFile): Promise<Ends> => {
  const slice = await measuredSlice(testbed, 4)
  await emptySlice(testbed, slice)
  await bareRegisterMs(testbed.stack, slice, staged)
  const run = await openChunkRun(testbed.stack, slice, staged, 1)
  await ready(testbed)
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
const deleteBesideSnapshot = async (testbed: Testbed, staged: StagedFile): Promise<Ends> => {
  const { host, port, master, name } = testbed.stack.database
  const old = await createConnection({ host, port, ...master, database: name })
  try {
    await old.query('set session transaction isolation level repeatable read')
    await old.query('start transaction with consistent snapshot')
    return await deleteSlice(testbed, staged)
  } finally {
    old.destroy()
  }
}

const report = async (testbed: Testbed) => {
  const rows = testbed.sizes.snapshotRows
  const staged = await stageFile(await fileOf(testbed, rows))
  const without = await deleteSlice(testbed, staged)
  const beside = await deleteBesideSnapshot(testbed, staged)
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
  needs: 'testbed',
  measure: report,
}
