import { atLeast, atMost, median, millis, rateOf, ratio, whole } from '../harness/figures.ts'
import { LANES } from '../harness/floor.ts'
import { registerFirst, runTimes, stagedOf } from '../harness/sharelock.ts'
import { fillFloor, floorTimes, type Testbed, type Times } from '../harness/testbed.ts'
import type { Section } from './section.ts'
import { takeOverMs } from './take-over.ts'

/**
 * Targets are based on these ratios, and a round differs from the next by a tenth and more, so there are more of them.
 */
const ROUNDS_TIMES = 3

const FLOOR_SHARE_MIN = 0.9
const TRANSACTION_MS_MAX = 500
const TAKE_OVER_MS_MAX = 500

/** Alternates Sharelock and the floor on one server, so that both meet the same machine, caches and disk. */
const measure = async (testbed: Testbed) => {
  const { rows } = testbed.sizes
  const rounds = testbed.sizes.rounds * ROUNDS_TIMES
  const registered = await registerFirst(testbed, 1, rows)
  const staged = await stagedOf(testbed, registered)
  const floorSlice = await fillFloor(testbed, staged)
  const floor: Times[] = []
  const sharelock: Times[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const turns = [
      async () => floor.push(await floorTimes(testbed, floorSlice, staged)),
      async () => sharelock.push(await runTimes(testbed, registered)),
    ]
    // Each goes first in turn: the one that follows finds the pages that the other left to be written.
    for (const turn of round % 2 === 1 ? turns : turns.reverse()) await turn()
    testbed.say(`round ${round} of ${rounds}`)
  }
  const takeOvers: number[] = []
  for (let round = 1; round <= testbed.sizes.rounds; round += 1) takeOvers.push(await takeOverMs(testbed, registered))
  return { floor, sharelock, takeOvers }
}

const report = async (testbed: Testbed) => {
  const { rows } = testbed.sizes
  const { floor, sharelock, takeOvers } = await measure(testbed)
  const steps = [
    { name: 'delete', of: 'deleteMs' as const, longest: 'longestDeleteMs' as const },
    { name: 'register', of: 'registerMs' as const, longest: 'longestRegisterMs' as const },
  ].map(({ name, of, longest }) => {
    const own = rateOf(rows, median(sharelock.map((times) => times[of])))
    const bare = rateOf(rows, median(floor.map((times) => times[of])))
    const longestMs = Math.max(...sharelock.map((times) => times[longest]))
    const floorMs = Math.max(...floor.map((times) => times[longest]))
    const spread = sharelock.map((times) => whole(rateOf(rows, times[of]))).join(', ')
    return { name, own, bare, longestMs, floorMs, spread }
  })
  const longestMs = Math.max(...steps.map((step) => step.longestMs))
  const takeOver = Math.max(...takeOvers)
  return {
    tables: [
      {
        title: `${whole(rows)} rows, production’s ${LANES} lanes, medians of ${sharelock.length} rounds`,
        head: [
          'step',
          'Sharelock, rows/s',
          'floor, rows/s',
          'ratio',
          'longest transaction, ms',
          'the floor’s',
          'each round, rows/s',
        ],
        rows: steps.map(({ name, own, bare, longestMs: ms, floorMs, spread }) => [
          ...[name, whole(own), whole(bare), ratio(own / bare), millis(ms), millis(floorMs), spread],
        ]),
      },
    ],
    charts: [
      {
        title: 'Sharelock beside the floor',
        unit: 'rows/s',
        labels: steps.flatMap(({ name }) => [`${name}, floor`, `${name}, Sharelock`]),
        values: steps.flatMap(({ bare, own }) => [bare, own]),
      },
    ],
    verdicts: [
      ...steps.map(({ name, own, bare }) =>
        atLeast(`${name}, share of the floor:`, own / bare, FLOOR_SHARE_MIN, ratio(own / bare)),
      ),
      atMost('longest transaction, ms:', longestMs, TRANSACTION_MS_MAX, `${millis(longestMs)} ms`),
      atMost('take-over while all lanes load, ms:', takeOver, TAKE_OVER_MS_MAX, `${millis(takeOver)} ms`),
    ],
    notes: [
      `A take-over (OpenJob of another run, waiting for the chunks in flight) took ${takeOvers.map(millis).join(', ')} ms.`,
      'The longest transaction is the server’s own figure (performance_schema), over all transactions of the functions’ user: chunks and transitions alike.',
    ],
  }
}

export const replace: Section = {
  name: 'replace',
  title: 'Sharelock beside the physical floor',
  about:
    'A full slice is deleted and loaded again. The floor is the same LOAD DATA and range DELETE statements on as many bare connections, without lock, guard, ledger or worker processes. Sharelock’s time runs from its first chunk task to the transition after the last, counting and summing of the slice included.',
  needs: 'testbed',
  measure: report,
}
