import { atLeast, median, millis, rateOf, ratio, whole } from '../harness/figures.ts'
import { registerFirst, runTimes } from '../harness/sharelock.ts'
import { emptySlice, type Testbed, type Times } from '../harness/testbed.ts'
import type { Section } from './section.ts'

const FLAT_MIN = 0.8

/** Slices 11 to 13; each is emptied afterwards, so that the next is beside the neighbours only. */
const measure = async (testbed: Testbed) => {
  const figures: { rows: number; deleteRate: number; registerRate: number; longestMs: [number, number] }[] = []
  for (const [place, rows] of testbed.sizes.scale.entries()) {
    const registered = await registerFirst(testbed, 11 + place, rows)
    const times: Times[] = []
    // The largest takes a minute a round, and its own length evens out what rounds are for.
    const rounds = place === testbed.sizes.scale.length - 1 ? 1 : testbed.sizes.rounds
    for (let round = 0; round < rounds; round += 1) times.push(await runTimes(testbed, registered))
    figures.push({
      rows,
      deleteRate: rateOf(rows, median(times.map(({ deleteMs }) => deleteMs))),
      registerRate: rateOf(rows, median(times.map(({ registerMs }) => registerMs))),
      longestMs: [
        Math.max(...times.map((one) => one.longestDeleteMs)),
        Math.max(...times.map((one) => one.longestRegisterMs)),
      ],
    })
    await emptySlice(testbed, registered.slice)
    testbed.registered.delete(11 + place)
    testbed.say(`${whole(rows)} rows done`)
  }
  return figures
}

const report = async (testbed: Testbed) => {
  const figures = await measure(testbed)
  const [, base, largest] = figures
  if (base === undefined || largest === undefined) throw new Error('three sizes are needed')
  const flat = (of: 'deleteRate' | 'registerRate'): number => largest[of] / base[of]
  const labels = figures.map(({ rows }) => `${rows / 1_000_000} M`)
  const target = (step: string) => `${step}, rows/s at ${labels[2]} of those at ${labels[1]}:`
  return {
    tables: [
      {
        title: 'Rows per second by the size of the slice',
        head: ['rows', 'delete, rows/s', 'register, rows/s', 'longest transaction deleting, ms', 'registering, ms'],
        rows: figures.map(({ rows, deleteRate, registerRate, longestMs }) => [
          ...[whole(rows), whole(deleteRate), whole(registerRate), ...longestMs.map(millis)],
        ]),
      },
    ],
    charts: [
      { title: 'Delete, by rows of the slice', unit: 'rows/s', labels, values: figures.map((one) => one.deleteRate) },
      {
        title: 'Register, by rows of the slice',
        unit: 'rows/s',
        labels,
        values: figures.map((one) => one.registerRate),
      },
    ],
    verdicts: [
      atLeast(target('delete'), flat('deleteRate'), FLAT_MIN, ratio(flat('deleteRate'))),
      atLeast(target('register'), flat('registerRate'), FLAT_MIN, ratio(flat('registerRate'))),
    ],
    notes: [
      'The longest transactions of a large slice read. Deleting: MarkDeleted looks whether the slice is empty, and passes over every deleted row that purge has not removed yet; only another run of the same slice waits for it. Registering: the count and sum before MarkRegistered, one SELECT that holds no lock, and that the server counts as a transaction.',
    ],
  }
}

export const scale: Section = {
  name: 'scale',
  title: 'From a tenth of a million to eight million rows',
  about: 'The same run on slices of three sizes, production’s lanes, the full slice before and after.',
  needs: 'testbed',
  measure: report,
}
