import { setTimeout as sleep } from 'node:timers/promises'
import { atMost, millis, quantile, ratio, whole } from '../figures.ts'
import { LANES } from '../floor.ts'
import { fillFloor, floorTimes, type Ground, ready } from '../ground.ts'
import { withLanes } from '../lanes.ts'
import { type Reader, startReader } from '../reader.ts'
import { registerFirst, runTimes, stagedOf } from '../sharelock.ts'
import type { Section } from './section.ts'

const P99_GROWTH_MAX = 2

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

const verdict = (target: string, growth: number) => atMost(target, growth, P99_GROWTH_MAX, ratio(growth))

const report = async (ground: Ground) => {
  const registered = await registerFirst(ground, 1, ground.sizes.rows)
  const staged = await stagedOf(ground, registered)
  const floorSlice = await fillFloor(ground, staged)
  const [neighbour] = ground.neighbours
  if (neighbour === undefined) throw new Error('there is no neighbour to read')
  const reader = await startReader(ground.stack, neighbour)
  try {
    const rest = await beside(ground, reader, () => sleep(ground.sizes.readerS * 1_000))
    const bare = (lanes: number) => beside(ground, reader, () => floorTimes(ground, floorSlice, staged, lanes))
    const sharelock = (lanes: number) =>
      withLanes(ground, lanes, () => beside(ground, reader, () => runTimes(ground, registered)))
    const floor = await bare(LANES)
    const own = await sharelock(LANES)
    const floorOne = await bare(1)
    const ownOne = await sharelock(1)
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
            line(`beside the floor, ${LANES} lanes`, floor),
            line(`beside Sharelock, ${LANES} lanes`, own),
            line('beside the floor, 1 lane', floorOne),
            line('beside Sharelock, 1 lane', ownOne),
          ],
        },
      ],
      charts: [
        {
          title: 'p99 of a settlement query',
          unit: 'ms',
          labels: ['at rest', `floor, ${LANES}`, `Sharelock, ${LANES}`, 'floor, 1', 'Sharelock, 1'],
          values: [rest, floor, own, floorOne, ownOne].map(p99),
        },
      ],
      verdicts: [
        verdict(`p99 of a reader beside a run of ${LANES} lanes, of at rest:`, growth(own)),
        verdict('p99 of a reader beside a run of 1 lane, of at rest:', growth(ownOne)),
      ],
      notes: [
        'Two lanes keep two cores of a server busy, and then a query waits for a core; one lane leaves it one. Where readers matter more than the run’s end, a stage’s `lanes` stay below its database’s cores.',
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
