import { availableParallelism, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stack } from '../../local/stack.ts'
import { atMost, millis, quantile, ratio, whole } from '../harness/figures.ts'
import { withLanes } from '../harness/lanes.ts'
import { type Reader, startReader } from '../harness/reader.ts'
import { registerFirst, runTimes, stagedOf } from '../harness/sharelock.ts'
import { fillFloor, floorTimes, ready, type Testbed } from '../harness/testbed.ts'
import type { Section } from './section.ts'

const P99_GROWTH_MAX = 2

/** A lane for each of the server's cores, and for every second one: production has half as many lanes as cores. */
const CORES = availableParallelism()
const BESIDE_LANES: readonly number[] = [CORES, Math.max(Math.floor(CORES / 2), 1)]

/** The nice value of a process that has cores of its own in AWS. */
const YIELDING = 15

/**
 * Functions, engine and object store, and the floor's client, take what server and reader leave of the cores. There is
 * no way back for a user who is not root, so this section is the last that works on a stack.
 */
const yieldCores = ({ lambda, aws }: Stack): void => {
  // A sandbox that starts later is a child of this process, and as yielding.
  for (const pid of [process.pid, aws.pid, ...lambda.sandboxes.map((sandbox) => sandbox.pid)])
    setPriority(pid, YIELDING)
}

/** Latencies while `work` is repeated for the reader's time. */
const beside = async (testbed: Testbed, reader: Reader, work: () => Promise<unknown>): Promise<number[]> => {
  const until = Date.now() + testbed.sizes.readerS * 1_000
  const latencies: number[] = []
  while (Date.now() < until) {
    // What preceded does not count; neither does the pause in which the server settles.
    await ready(testbed)
    await reader.take()
    await work()
    latencies.push(...(await reader.take()))
  }
  return latencies
}

const report = async (testbed: Testbed) => {
  const registered = await registerFirst(testbed, 1, testbed.sizes.rows)
  const staged = await stagedOf(testbed, registered)
  const floorSlice = await fillFloor(testbed, staged)
  const [neighbour] = testbed.neighbours
  if (neighbour === undefined) throw new Error('there is no neighbour to read')
  const reader = await startReader(testbed.stack, neighbour)
  try {
    yieldCores(testbed.stack)
    const rest: number[] = []
    const runs: { label: string; lanes: number; latencies: number[] }[] = []
    for (const lanes of BESIDE_LANES) {
      const name = `${lanes} ${lanes === 1 ? 'lane' : 'lanes'}`
      const floor = () => floorTimes(testbed, floorSlice, staged, lanes)
      const own = () => withLanes(testbed.stack, lanes, () => runTimes(testbed, registered))
      // Before each pair: the machine's own pace changes within minutes.
      rest.push(...(await beside(testbed, reader, () => sleep(testbed.sizes.readerS * 1_000))))
      runs.push({ label: `floor, ${name}`, lanes, latencies: await beside(testbed, reader, floor) })
      runs.push({ label: `Sharelock, ${name}`, lanes, latencies: await beside(testbed, reader, own) })
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
          rows: [line('at rest', rest), ...runs.map(({ label, latencies }) => line(`beside ${label}`, latencies))],
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
            `p99 of a reader beside a run whose lanes are ${lanes < CORES ? 'half' : 'all'} of the server’s ${CORES} cores, of at rest:`,
            growth(latencies),
            P99_GROWTH_MAX,
            ratio(growth(latencies)),
          ),
        ),
      notes: [
        'Lanes keep as many cores of the server busy, and a query then waits for one. So production’s database has twice as many cores as a job has lanes; jobs that run at once add up.',
        `Functions, engine, object store and the floor’s client yield to server and reader (nice ${YIELDING}), for in AWS only the database’s own cores are shared. The rest comes from the bare statements, as the floor shows: a query waits for a core while lanes and purge keep them busy.`,
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
  needs: 'testbed',
  measure: report,
}
