import { whole } from '../../harness/figures.ts'
import { registerFirst, stagedOf } from '../../harness/sharelock.ts'
import { emptySlice, type Testbed } from '../../harness/testbed.ts'
import { openPeers, openTrial } from '../../peers/peers.ts'
import type { Found, Section } from '../section.ts'
import { type Killed, killMethod } from './peer.ts'
import { BLOWS, strikeSharelock } from './sharelock.ts'

const STEPS = ['delete', 'register'] as const

/** A slice of its own: it is left to none of the others. */
const killSharelock = async (testbed: Testbed, expected: string): Promise<Killed[]> => {
  const registered = await registerFirst(testbed, 6, testbed.sizes.killedRows)
  const staged = await stagedOf(testbed, registered)
  const found: Killed[] = []
  for (const step of STEPS)
    for (const blow of BLOWS) found.push(await strikeSharelock(testbed, registered, staged, step, blow, expected))
  await emptySlice(testbed, registered.slice)
  testbed.registered.delete(6)
  return found
}

const measure = async (testbed: Testbed): Promise<Found> => {
  const { killedRows, slowRows } = testbed.sizes
  const peers = await openPeers(testbed)
  const fast = await openTrial(testbed, peers, killedRows)
  const own = await killSharelock(testbed, fast.expected)
  testbed.say('Sharelock was killed')
  const found: Killed[] = []
  for (const method of peers.methods)
    if (method.pace !== 'slow') {
      found.push(await killMethod(testbed, fast, method))
      testbed.say(`${method.name} was killed`)
    }
  const slow = await openTrial(testbed, peers, slowRows)
  for (const method of peers.methods) if (method.pace === 'slow') found.push(await killMethod(testbed, slow, method))
  await emptySlice(testbed, slow.slice)
  return report(own, found, peers.absent, peers.versions)
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
      .map(({ method, left, rows, reader, again, exact }) => [
        ...[method, `${whole(left)} of ${whole(rows)}`, reader, again, exact ? 'yes' : '**no**'],
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
    'No method doubles a row: the primary key is the natural key. A method that fails on its own rows needs somebody who deletes them first.',
  ],
  settings,
})

export const killed: Section = {
  name: 'killed',
  title: 'Killed half way',
  about:
    'What each method leaves behind when its process is killed in the middle, and whether the same command, run again, ends well.',
  needs: 'testbed',
  measure,
}
