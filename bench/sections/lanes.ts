import { median, millis, rateOf, ratio, whole } from '../harness/figures.ts'
import { withLanes } from '../harness/lanes.ts'
import { registerFirst, runTimes, stagedOf } from '../harness/sharelock.ts'
import { fillFloor, floorTimes, type Testbed, type Times } from '../harness/testbed.ts'
import type { Section } from './section.ts'

/** No target is based on these figures. */
const ROUNDS_MAX = 2

type Figures = { readonly lanes: number; readonly own: Times[]; readonly floor: Times[] }

const measure = async (testbed: Testbed): Promise<Figures[]> => {
  const { sizes } = testbed
  const registered = await registerFirst(testbed, 1, sizes.rows)
  const staged = await stagedOf(testbed, registered)
  const floorSlice = await fillFloor(testbed, staged)
  const figures: Figures[] = []
  const rounds = Math.min(sizes.rounds, ROUNDS_MAX)
  for (const lanes of sizes.lanes) {
    const own: Times[] = []
    const floor: Times[] = []
    await withLanes(testbed.stack, lanes, async () => {
      // The first run with more lanes starts sandboxes; it is not counted.
      await runTimes(testbed, registered)
      for (let round = 0; round < rounds; round += 1) {
        floor.push(await floorTimes(testbed, floorSlice, staged, lanes))
        own.push(await runTimes(testbed, registered))
      }
    })
    figures.push({ lanes, own, floor })
    testbed.say(`${lanes} lanes done`)
  }
  return figures
}

const report = async (testbed: Testbed) => {
  const { rows } = testbed.sizes
  const figures = (await measure(testbed)).map(({ lanes, own, floor }) => {
    const rate = (times: readonly Times[], of: keyof Times) => rateOf(rows, median(times.map((time) => time[of])))
    return {
      label: `${lanes}`,
      deleteRate: rate(own, 'deleteMs'),
      registerRate: rate(own, 'registerMs'),
      deleteFloor: rate(floor, 'deleteMs'),
      registerFloor: rate(floor, 'registerMs'),
      longestMs: Math.max(...own.flatMap((one) => [one.longestDeleteMs, one.longestRegisterMs])),
    }
  })
  const labels = figures.map(({ label }) => `${label} lanes`)
  return {
    tables: [
      {
        title: `${whole(rows)} rows, by lanes; the floor has as many connections`,
        head: [
          'lanes',
          'delete, rows/s',
          'of the floor',
          'register, rows/s',
          'of the floor',
          'longest transaction, ms',
        ],
        rows: figures.map((one) => [
          ...[one.label, whole(one.deleteRate), ratio(one.deleteRate / one.deleteFloor)],
          ...[whole(one.registerRate), ratio(one.registerRate / one.registerFloor), millis(one.longestMs)],
        ]),
      },
    ],
    charts: [
      { title: 'Delete, by lanes', unit: 'rows/s', labels, values: figures.map((one) => one.deleteRate) },
      { title: 'Register, by lanes', unit: 'rows/s', labels, values: figures.map((one) => one.registerRate) },
    ],
    verdicts: [],
    notes: ['Server and lanes share the cores of one machine: lanes beyond its cores gain little here.'],
  }
}

export const lanes: Section = {
  name: 'lanes',
  title: 'Lanes',
  about: 'The same run with 1, 2 and 4 lanes: the machine’s two Maps are hosted with another MaxConcurrency.',
  needs: 'testbed',
  measure: report,
}
