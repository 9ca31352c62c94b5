import { setTimeout as sleep } from 'node:timers/promises'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { uploadKey } from '../../demo/files.ts'
import { monthDate, type Slice } from '../../functions/contract/words.ts'
import { atMost, median, millis, whole } from '../harness/figures.ts'
import { registerFirst, startRun, untilRegistered } from '../harness/sharelock.ts'
import { fileOf, ready, type Testbed } from '../harness/testbed.ts'
import type { Section } from './section.ts'

const UNDO_MS_MAX = 3_000
const LOOK_MS_MAX = 50
const LOOK_EVERY_MS = 2

type Looks = { readonly looks: number; readonly dark: number; readonly longestMs: number }

/** Asks all the time which set is read, as fast as answers come, until it is told to end. */
const watchSet = async ({ stack }: Testbed, slice: Slice): Promise<() => Promise<Looks>> => {
  const { host, port, master, name } = stack.database
  const connection = await createConnection({ host, port, ...master, database: name })
  const seen = { looks: 0, dark: 0, longestMs: 0 }
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      const startedAt = performance.now()
      const [rows] = await connection.query<RowDataPacket[]>(
        'select job_id from settled_share_ratio where distributor = ? and settlement_month = ? limit 1 for share',
        [slice.distributor, monthDate(slice.month)],
      )
      seen.longestMs = Math.max(seen.longestMs, performance.now() - startedAt)
      seen.looks += 1
      if (rows.length === 0) seen.dark += 1
      await sleep(LOOK_EVERY_MS)
    }
  })()
  return async () => {
    isOver = true
    await watching
    connection.destroy()
    return seen
  }
}

/** One run with somebody who looks. */
const watched = async (testbed: Testbed, slice: Slice, source: Parameters<typeof startRun>[2], isForced: boolean) => {
  await ready(testbed)
  const stop = await watchSet(testbed, slice)
  const startedAt = performance.now()
  const arn = await startRun(testbed, slice, source, isForced)
  await untilRegistered(testbed, arn)
  const ms = performance.now() - startedAt
  return { arn, ms, looks: await stop() }
}

const report = async (testbed: Testbed) => {
  const { rows, rounds } = testbed.sizes
  const { slice, digest } = await registerFirst(testbed, 1, rows)
  const other = await fileOf(testbed, rows - 1_000)
  const key = uploadKey(slice.distributor, slice.month, other)
  await testbed.setting.sdk.upload(key, other)
  const replaced = await watched(testbed, slice, { key }, true)
  const forced = await watched(testbed, slice, { staged: digest }, true)
  const undos = []
  for (let round = 1; round <= rounds * 2; round += 1) undos.push(await watched(testbed, slice, { undo: true }, false))
  const reuseMs: number[] = []
  for (const { arn } of undos)
    reuseMs.push((await testbed.setting.sdk.between(arn, 'ReuseSet', 'ReuseSet')) ?? Number.NaN)
  const checkMs = (await testbed.setting.sdk.between(forced.arn, 'MarkRegistered', 'MarkRegistered')) ?? Number.NaN
  const registerMs = (await testbed.setting.sdk.between(forced.arn, 'RegisterChunks', 'MarkRegistered')) ?? Number.NaN
  const all = [replaced, forced, ...undos].map(({ looks }) => looks)
  const dark = all.reduce((sum, one) => sum + one.dark, 0)
  const undoLooksMs = undos.map(({ looks }) => looks.longestMs)
  const undoMs = undos.map(({ ms }) => ms)
  return {
    tables: [
      {
        title: `${whole(rows)} rows`,
        head: ['run', 'whole run, ms', 'ReuseSet or MarkRegistered, ms', 'looks', 'without a set', 'longest look, ms'],
        rows: [
          ...[replaced, forced].map(({ ms, looks }, index) => [
            index === 0 ? 'another file' : 'the first set, forced',
            ...[millis(ms), index === 1 ? millis(checkMs) : '—'],
            ...[whole(looks.looks), whole(looks.dark), millis(looks.longestMs)],
          ]),
          ...undos.map(({ ms, looks }, index) => [
            'undo by switch',
            ...[millis(ms), millis(reuseMs[index])],
            ...[whole(looks.looks), whole(looks.dark), millis(looks.longestMs)],
          ]),
        ],
      },
    ],
    charts: [],
    verdicts: [
      atMost('looks without a readable month:', dark, 0, whole(dark)),
      atMost('undo by switch, whole run, ms:', median(undoMs), UNDO_MS_MAX, `${millis(median(undoMs))} ms`),
      atMost(
        'longest locking look across a switch, ms:',
        median(undoLooksMs),
        LOOK_MS_MAX,
        `${millis(median(undoLooksMs))} ms`,
      ),
    ],
    notes: [
      `Comparing every column took ${millis(checkMs)} ms of the ${millis(registerMs)} ms from the first chunk to REGISTERED.`,
      'A look is a locking read of one row through the view, again and again; across an undo it meets the switch and nothing else of Sharelock, so the longest one bounds the time that the switch takes.',
    ],
  }
}

export const switching: Section = {
  name: 'switch',
  title: 'The switch, and a month that is never dark',
  about:
    'A full slice is replaced, and taken back and forth by undos to the set that lies in its other slot, while a reader looks all the time which set there is.',
  needs: 'testbed',
  measure: report,
}
