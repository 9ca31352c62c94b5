import { totalsOf } from '../../functions/store/share-ratio.ts'
import { median, millis, rateOf, ratio, whole } from '../harness/figures.ts'
import { bareDeleteMs, bareRegisterMs } from '../harness/floor.ts'
import type { Verdict } from '../harness/result.ts'
import { longestTransactionMs } from '../harness/server.ts'
import { registerFirst, runTimes, stagedOf } from '../harness/sharelock.ts'
import { emptySlice, fillFloor, floorTimes, ready, type Testbed, type Times } from '../harness/testbed.ts'
import type { Method, Step } from '../peers/method.ts'
import { openPeers, openTrial, type Peers, type Trial } from '../peers/peers.ts'
import type { Found, Section } from './section.ts'

/** Rounds of the fast ones; the slow ones run long enough to be measured once. */
const FAST_ROUNDS_MAX = 2

const STEPS = ['delete', 'register'] as const
const OWN = ['floor', 'Sharelock']

/** One method's figures in one step. */
type Line = {
  readonly name: string
  readonly step: Step
  readonly rows: number
  /** Leaves no half when it is killed. */
  readonly atomic: boolean
  readonly ms: number
  readonly longestMs: number
}

/** Prepares the slice, runs the method once, and looks whether it did what it should. */
const runMethod = async (
  testbed: Testbed,
  { slice, staged, target }: Trial,
  method: Method,
): Promise<{ ms: number; longestMs: number }> => {
  const { stack, setting } = testbed
  await emptySlice(testbed, slice)
  await bareRegisterMs(stack, slice, staged)
  await ready(testbed)
  // As in every other job, the load runs while the rows deleted before it are purged.
  if (method.step === 'register') await bareDeleteMs(stack, slice, staged)
  const startedAt = performance.now()
  const { code, said } = await method.start(target).ended
  const ms = performance.now() - startedAt
  const { rows } = await totalsOf(setting.database, { ...slice, slot: 0 })
  if (code !== 0 || rows !== (method.step === 'register' ? staged.manifest.rows : 0))
    throw new Error(`${method.name} ended with ${code} and left ${rows} rows: ${said}`)
  return { ms, longestMs: await longestTransactionMs(setting.database, target.user) }
}

const measureMethod = async (testbed: Testbed, trial: Trial, method: Method): Promise<Line> => {
  const rounds = method.pace === 'fast' ? Math.min(testbed.sizes.rounds, FAST_ROUNDS_MAX) : 1
  const found: { ms: number; longestMs: number }[] = []
  for (let round = 0; round < rounds; round += 1) found.push(await runMethod(testbed, trial, method))
  testbed.say(`${method.name} done`)
  return {
    name: method.name,
    step: method.step,
    atomic: method.atomic,
    rows: trial.staged.manifest.rows,
    ms: median(found.map(({ ms }) => ms)),
    longestMs: Math.max(...found.map(({ longestMs }) => longestMs)),
  }
}

/** Sharelock and the floor, before each peer that is fast: the machine's own pace changes within minutes. */
const measureOwn = async (testbed: Testbed, peers: (before: () => Promise<void>) => Promise<Line[]>) => {
  const { rows } = testbed.sizes
  const registered = await registerFirst(testbed, 1, rows)
  const staged = await stagedOf(testbed, registered)
  const floorSlice = await fillFloor(testbed, staged)
  const floor: Times[] = []
  const own: Times[] = []
  const both = async () => {
    floor.push(await floorTimes(testbed, floorSlice, staged))
    own.push(await runTimes(testbed, registered))
  }
  const lines = await peers(both)
  const line = (name: string, step: Step, times: readonly Times[]): Line => ({
    ...{ name, step, rows, atomic: name === 'Sharelock' },
    ms: median(times.map((time) => (step === 'delete' ? time.deleteMs : time.registerMs))),
    longestMs: Math.max(...times.map((time) => (step === 'delete' ? time.longestDeleteMs : time.longestRegisterMs))),
  })
  return [...STEPS.flatMap((step) => [line('floor', step, floor), line('Sharelock', step, own)]), ...lines]
}

const measurePeers = async (testbed: Testbed, peers: Peers, before: () => Promise<void>): Promise<Line[]> => {
  const { rows, slowishRows, slowRows } = testbed.sizes
  const lines: Line[] = []
  for (const [pace, size] of Object.entries({ fast: rows, slowish: slowishRows, slow: slowRows })) {
    const trial = await openTrial(testbed, peers, size)
    for (const method of peers.methods) {
      if (method.pace !== pace) continue
      if (pace === 'fast') await before()
      lines.push(await measureMethod(testbed, trial, method))
    }
    await emptySlice(testbed, trial.slice)
  }
  return lines
}

const report = async (testbed: Testbed): Promise<Found> => {
  const peers = await openPeers(testbed)
  const lines = await measureOwn(testbed, (before) => measurePeers(testbed, peers, before))
  const rate = ({ rows, ms }: Line) => rateOf(rows, ms)
  const steps = STEPS.map((step) => {
    const all = lines.filter((line) => line.step === step)
    const peers = all.filter(({ name }) => !OWN.includes(name)).toSorted((a, b) => rate(b) - rate(a))
    const [floor, own] = all.filter(({ name }) => OWN.includes(name))
    if (floor === undefined || own === undefined) throw new Error(`${step} was not measured`)
    return { step, floor, own, peers }
  })
  const verdict = (target: string, own: Line, [best]: readonly Line[]): Verdict => ({
    target,
    measured: `${whole(rate(own))} rows/s; the fastest, ${best?.name}, ${whole(best === undefined ? Number.NaN : rate(best))}`,
    met: best !== undefined && rate(own) > rate(best),
  })
  return {
    tables: steps.map(({ step, floor, own, peers }) => ({
      title: step === 'delete' ? 'Deleting the slice' : 'Loading the file',
      head: ['', 'rows/s', 'of the floor', 'longest transaction, ms', 'killed, it leaves', 'measured on rows'],
      rows: [floor, own, ...peers].map((line) => [
        ...[line.name, whole(rate(line)), ratio(rate(line) / rate(floor)), millis(line.longestMs)],
        ...[line.atomic ? 'no half' : 'a half', whole(line.rows)],
      ]),
    })),
    charts: steps.map(({ step, floor, own, peers }) => ({
      title: step === 'delete' ? 'Deleting the slice' : 'Loading the file',
      unit: 'rows/s',
      labels: [floor, own, ...peers].map(({ name }) => name),
      values: [floor, own, ...peers].map(rate),
    })),
    verdicts: steps.flatMap(({ step, own, peers }) => [
      verdict(
        `${step}: faster than every peer of the same durability, that is which leaves no half when it is killed`,
        own,
        peers.filter(({ atomic }) => atomic),
      ),
      verdict(`${step}: faster than every other peer, too`, own, peers),
    ]),
    notes: [
      ...peers.absent,
      'Peers are timed as processes, from their start to their exit; Sharelock from its first chunk to the transition after the last. mysqlimport and myloader delete whole tables only, pt-archiver loads no files. Ways that commit every row, or every 250, are measured on fewer rows.',
      'The next section measures what a reader finds after a method was killed: Sharelock’s readers find no rows and a sentence until its run is resumed; one transaction for everything rolls back. A loader of a file a chunk is the floor by another program. One DELETE leaves all of purge to the next client, because nothing can be purged before its end; chunks share the two cores with their purge.',
      'No peer checks the file, keeps two runs apart, or hides the half-replaced slice from readers.',
    ],
    settings: peers.versions,
  }
}

export const peers: Section = {
  name: 'peers',
  title: 'The same job by other means',
  about:
    'Deleting a slice and loading its file into the same table, beside the neighbouring slices, by tools of the field and by the old ways. The same server and the same durability for all: a flushed log and a flushed binary log at each commit, no TLS.',
  needs: 'testbed',
  measure: report,
}
