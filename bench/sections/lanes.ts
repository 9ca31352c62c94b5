import { median, millis, rateOf, ratio, whole } from '../figures.ts'
import { fillFloor, floorTimes, type Ground, type Times } from '../ground.ts'
import { withLanes } from '../lanes.ts'
import { registerFirst, runTimes, stagedOf } from '../sharelock.ts'
import type { Section } from './section.ts'

/** No target stands on these figures. */
const ROUNDS_MAX = 2

type Figures = { readonly lanes: number; readonly own: Times[]; readonly floor: Times[] }

const measure = async (ground: Ground): Promise<Figures[]> => {
  const { sizes } = ground
  const registered = await registerFirst(ground, 1, sizes.rows)
  const staged = await stagedOf(ground, registered)
  const floorSlice = await fillFloor(ground, staged)
  const figures: Figures[] = []
  const rounds = Math.min(sizes.rounds, ROUNDS_MAX)
  for (const lanes of sizes.lanes) {
    const own: Times[] = []
    const floor: Times[] = []
    await withLanes(ground.stack, lanes, async () => {
      // The first run with more lanes starts sandboxes; it is not counted.
      await runTimes(ground, registered)
      for (let round = 0; round < rounds; round += 1) {
        floor.push(await floorTimes(ground, floorSlice, staged, lanes))
        own.push(await runTimes(ground, registered))
      }
    })
    figures.push({ lanes, own, floor })
    ground.say(`${lanes} lanes done`)
  }
  return figures
}

const report = async (ground: Ground) => {
  const { rows } = ground.sizes
  const figures = (await measure(ground)).map(({ lanes, own, floor }) => {
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
  needs: 'ground',
  measure: report,
}
