import { setTimeout as sleep } from 'node:timers/promises'
import { atMost, millis, quantile, ratio, whole } from '../figures.ts'
import { fillFloor, floorTimes, type Ground, ready } from '../ground.ts'
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

const report = async (ground: Ground) => {
  const registered = await registerFirst(ground, 1, ground.sizes.rows)
  const staged = await stagedOf(ground, registered)
  const floorSlice = await fillFloor(ground, staged)
  const [neighbour] = ground.neighbours
  if (neighbour === undefined) throw new Error('there is no neighbour to read')
  const reader = await startReader(ground.stack, neighbour)
  try {
    const rest = await beside(ground, reader, () => sleep(ground.sizes.readerS * 1_000))
    const floor = await beside(ground, reader, () => floorTimes(ground, floorSlice, staged))
    const own = await beside(ground, reader, () => runTimes(ground, registered))
    const p99 = (latencies: readonly number[]) => quantile(latencies, 0.99)
    const growth = p99(own) / p99(rest)
    const line = (name: string, latencies: readonly number[]) => [
      ...[name, whole(latencies.length), millis(quantile(latencies, 0.5)), millis(p99(latencies))],
      ...[millis(Math.max(...latencies)), ratio(p99(latencies) / p99(rest))],
    ]
    return {
      tables: [
        {
          title: 'A settlement query of 100 tracks on another slice, through the view, 50 times a second',
          head: ['', 'queries', 'median, ms', 'p99, ms', 'longest, ms', 'p99, of at rest'],
          rows: [line('at rest', rest), line('beside the floor', floor), line('beside Sharelock', own)],
        },
      ],
      charts: [
        {
          title: 'p99 of a settlement query',
          unit: 'ms',
          labels: ['at rest', 'beside the floor', 'beside Sharelock'],
          values: [p99(rest), p99(floor), p99(own)],
        },
      ],
      verdicts: [atMost('p99 of a reader beside a run, of at rest:', growth, P99_GROWTH_MAX, ratio(growth))],
      notes: [
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
