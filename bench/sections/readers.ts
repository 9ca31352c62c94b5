import { setTimeout as sleep } from 'node:timers/promises'
import { atMost, millis, quantile, ratio, whole } from '../figures.ts'
import { LANES } from '../floor.ts'
import { fillFloor, floorTimes, type Ground, ready } from '../ground.ts'
import { withLanes } from '../lanes.ts'
import { type Reader, startReader } from '../reader.ts'
import { registerFirst, runTimes, stagedOf } from '../sharelock.ts'
import type { Section } from './section.ts'

const P99_GROWTH_MAX = 2

/** Production’s lanes, and as many as leave the server's cores something for others. */
const BESIDE_LANES = [LANES, 2, 1] as const

/** Latencies while `work` is repeated for the reader's time. */
const beside = async (ground: Ground, reader: Reader, work: () => Promise<unknown>): Promise<number[]> => {
  const until = Date.now() + ground.sizes.readerS * 1_000
  const latencies: number[] = []
  while (Date.now() < until) {
    // What preceded does not count; neither does the pause in which the server settles.
    await ready(ground)
    await reader.take()
    await work()
    latencies.push(...(await reader.take()))
  }
  return latencies
}

const report = async (ground: Ground) => {
  const registered = await registerFirst(ground, 1, ground.sizes.rows)
  const staged = await stagedOf(ground, registered)
  const floorSlice = await fillFloor(ground, staged)
  const [neighbour] = ground.neighbours
  if (neighbour === undefined) throw new Error('there is no neighbour to read')
  const reader = await startReader(ground.stack, neighbour)
  try {
    const rest = await beside(ground, reader, () => sleep(ground.sizes.readerS * 1_000))
    const runs: { label: string; lanes: number; latencies: number[] }[] = []
    for (const lanes of BESIDE_LANES) {
      const floor = () => floorTimes(ground, floorSlice, staged, lanes)
      const own = () => withLanes(ground.stack, lanes, () => runTimes(ground, registered))
      runs.push({ label: `floor, ${lanes}`, lanes, latencies: await beside(ground, reader, floor) })
      runs.push({ label: `Sharelock, ${lanes}`, lanes, latencies: await beside(ground, reader, own) })
    }
    const p99 = (latencies: readonly number[]) => quantile(latencies, 0.99)
    const growth = (latencies: readonly number[]) => p99(latencies) / p99(rest)
    const line = (name: string, latencies: readonly number[]) => [
      ...[name, whole(latencies.length), millis(quantile(latencies, 0.5)), millis(p99(latencies))],
      ...[millis(Math.max(...latencies)), ratio(growth(latencies))],
    ]
    return {
      tables: [
        {
          title: 'A settlement query of 100 tracks on another slice, through the view, 50 times a second',
          head: ['', 'queries', 'median, ms', 'p99, ms', 'longest, ms', 'p99, of at rest'],
          rows: [
            line('at rest', rest),
            ...runs.map(({ label, latencies }) => line(`beside ${label} lanes`, latencies)),
          ],
        },
      ],
      charts: [
        {
          title: 'p99 of a settlement query',
          unit: 'ms',
          labels: ['at rest', ...runs.map(({ label }) => label)],
          values: [rest, ...runs.map(({ latencies }) => latencies)].map(p99),
        },
      ],
      verdicts: runs
        .filter(({ label }) => label.startsWith('Sharelock'))
        .map(({ lanes, latencies }) =>
          atMost(
            `p99 of a reader beside a run of ${lanes} lanes, of at rest:`,
            growth(latencies),
            P99_GROWTH_MAX,
            ratio(growth(latencies)),
          ),
        ),
      notes: [
        'Lanes keep as many cores of the server busy, and a query then waits for one. Where readers matter more than the end of a run, a stage’s `lanes` stay below its database’s cores.',
        'Reader, server, workers and engine share the cores of this machine, so a query also waits for a core; the floor shows how much of the growth is the bare statements’. In AWS only the database’s own cores are shared.',
      ],
    }
  } finally {
    reader.stop()
  }
}

export const readers: Section = {
  name: 'readers',
  title: 'Readers beside the job',
  about: 'A settlement program reads a neighbouring slice while another one is deleted and loaded.',
  needs: 'ground',
  measure: report,
}
