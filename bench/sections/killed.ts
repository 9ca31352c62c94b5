import { whole } from '../figures.ts'
import { emptySlice, type Ground } from '../ground.ts'
import { type Killed, killWay } from '../killed.ts'
import { BLOWS, strikeSharelock } from '../killed-sharelock.ts'
import { openField, openPlot } from '../peers/field.ts'
import { registerFirst, stagedOf } from '../sharelock.ts'
import type { Found, Section } from './section.ts'

const STEPS = ['delete', 'register'] as const

/** A slice of its own: it is left to none of the others. */
const killSharelock = async (ground: Ground, expected: string): Promise<Killed[]> => {
  const registered = await registerFirst(ground, 6, ground.sizes.killedRows)
  const staged = await stagedOf(ground, registered)
  const found: Killed[] = []
  for (const step of STEPS)
    for (const blow of BLOWS) found.push(await strikeSharelock(ground, registered, staged, step, blow, expected))
  await emptySlice(ground, registered.slice)
  ground.registered.delete(6)
  return found
}

const measure = async (ground: Ground): Promise<Found> => {
  const { killedRows, slowRows } = ground.sizes
  const field = await openField(ground)
  const fast = await openPlot(ground, field, killedRows)
  const own = await killSharelock(ground, fast.expected)
  ground.say('Sharelock was killed')
  const peers: Killed[] = []
  for (const way of field.ways)
    if (way.pace !== 'slow') {
      peers.push(await killWay(ground, fast, way))
      ground.say(`${way.name} was killed`)
    }
  const slow = await openPlot(ground, field, slowRows)
  for (const way of field.ways) if (way.pace === 'slow') peers.push(await killWay(ground, slow, way))
  await emptySlice(ground, slow.slice)
  return report(own, peers, field.absent, field.versions)
}

const report = (
  own: readonly Killed[],
  peers: readonly Killed[],
  absent: readonly string[],
  settings: Record<string, string>,
): Found => ({
  tables: STEPS.map((step) => ({
    title: `Killed half way through ${step === 'delete' ? 'deleting' : 'loading'}`,
    head: [
      '',
      'rows left, of',
      'a reader sees',
      'the same again',
      step === 'delete' ? 'then empty (Sharelock: the file)' : 'then exactly the file',
    ],
    rows: [...own, ...peers]
      .filter((killed) => killed.step === step)
      .map(({ way, left, rows, reader, again, exact }) => [
        ...[way, `${whole(left)} of ${whole(rows)}`, reader, again, exact ? 'yes' : '**no**'],
      ]),
  })),
  charts: [],
  verdicts: [
    {
      target: 'Sharelock killed half way: no reader sees a half, and it ends with exactly the file’s rows',
      measured: `${own.filter(({ safe }) => safe).length} of ${own.length} kills`,
      met: own.every(({ safe }) => safe),
    },
  ],
  notes: [
    ...absent,
    'Peers: kill -9 of the process when the row in the middle of the slice has gone or come; then, once the server is done with what it had begun, a count of the table as any reader of it sees it; then the same command again. Sharelock: kill -9 of the step’s workers; or the execution stopped and its workers killed, then the same request again. Its readers read the view settled_share_ratio, and its runs go on to the end: both tables say whether the file’s rows are there then.',
    'No way doubles a row: the primary key is the natural key. A way that fails on its own rows needs somebody who deletes them first.',
  ],
  settings,
})

export const killed: Section = {
  name: 'killed',
  title: 'Killed half way',
  about:
    'What each way leaves behind when its process is killed in the middle, and whether the same command, run again, ends well.',
  needs: 'ground',
  measure,
}
