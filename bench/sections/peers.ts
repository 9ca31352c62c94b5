import { totalsOf } from '../../functions/store/share-ratio.ts'
import { median, millis, rateOf, ratio, whole } from '../figures.ts'
import { bareDeleteMs, bareRegisterMs } from '../floor.ts'
import { emptySlice, fillFloor, floorTimes, type Ground, ready, type Times } from '../ground.ts'
import { type Field, openField, openPlot, type Plot } from '../peers/field.ts'
import type { Step, Way } from '../peers/way.ts'
import type { Verdict } from '../result.ts'
import { longestTransactionMs } from '../server.ts'
import { registerFirst, runTimes, stagedOf } from '../sharelock.ts'
import type { Found, Section } from './section.ts'

/** Rounds of whoever is fast; the slow ones run long enough to be measured once. */
const FAST_ROUNDS_MAX = 2

const STEPS = ['delete', 'register'] as const
const OWN = ['floor', 'Sharelock']

/** One way's figures in one step. */
type Line = {
  readonly name: string
  readonly step: Step
  readonly rows: number
  /** Leaves no half when it is killed. */
  readonly atomic: boolean
  readonly ms: number
  readonly longestMs: number
}

/** Prepares the slice, runs the way once, and looks whether it did what it should. */
const runWay = async (
  ground: Ground,
  { slice, staged, target }: Plot,
  way: Way,
): Promise<{ ms: number; longestMs: number }> => {
  const { stack, setting } = ground
  await emptySlice(ground, slice)
  await bareRegisterMs(stack, slice, staged)
  await ready(ground)
  // As in every other job, the load runs while the rows deleted before it are purged.
  if (way.step === 'register') await bareDeleteMs(stack, slice, staged)
  const startedAt = performance.now()
  const { code, said } = await way.start(target).ended
  const ms = performance.now() - startedAt
  const { rows } = await totalsOf(setting.database, slice)
  if (code !== 0 || rows !== (way.step === 'register' ? staged.manifest.rows : 0))
    throw new Error(`${way.name} ended with ${code} and left ${rows} rows: ${said}`)
  return { ms, longestMs: await longestTransactionMs(setting.database, target.user) }
}

const measureWay = async (ground: Ground, plot: Plot, way: Way): Promise<Line> => {
  const rounds = way.pace === 'fast' ? Math.min(ground.sizes.rounds, FAST_ROUNDS_MAX) : 1
  const found: { ms: number; longestMs: number }[] = []
  for (let round = 0; round < rounds; round += 1) found.push(await runWay(ground, plot, way))
  ground.say(`${way.name} done`)
  return {
    name: way.name,
    step: way.step,
    atomic: way.atomic,
    rows: plot.staged.manifest.rows,
    ms: median(found.map(({ ms }) => ms)),
    longestMs: Math.max(...found.map(({ longestMs }) => longestMs)),
  }
}

/** Sharelock and the floor, before each peer that is fast: the machine's own pace changes within minutes. */
const measureOwn = async (ground: Ground, peers: (before: () => Promise<void>) => Promise<Line[]>) => {
  const { rows } = ground.sizes
  const registered = await registerFirst(ground, 1, rows)
  const staged = await stagedOf(ground, registered)
  const floorSlice = await fillFloor(ground, staged)
  const floor: Times[] = []
  const own: Times[] = []
  const both = async () => {
    floor.push(await floorTimes(ground, floorSlice, staged))
    own.push(await runTimes(ground, registered))
  }
  const lines = await peers(both)
  const line = (name: string, step: Step, times: readonly Times[]): Line => ({
    ...{ name, step, rows, atomic: name === 'Sharelock' },
    ms: median(times.map((time) => (step === 'delete' ? time.deleteMs : time.registerMs))),
    longestMs: Math.max(...times.map((time) => (step === 'delete' ? time.longestDeleteMs : time.longestRegisterMs))),
  })
  return [...STEPS.flatMap((step) => [line('floor', step, floor), line('Sharelock', step, own)]), ...lines]
}

const measurePeers = async (ground: Ground, field: Field, before: () => Promise<void>): Promise<Line[]> => {
  const { rows, slowishRows, slowRows } = ground.sizes
  const lines: Line[] = []
  for (const [pace, size] of Object.entries({ fast: rows, slowish: slowishRows, slow: slowRows })) {
    const plot = await openPlot(ground, field, size)
    for (const way of field.ways) {
      if (way.pace !== pace) continue
      if (pace === 'fast') await before()
      lines.push(await measureWay(ground, plot, way))
    }
    await emptySlice(ground, plot.slice)
  }
  return lines
}

const report = async (ground: Ground): Promise<Found> => {
  const field = await openField(ground)
  const lines = await measureOwn(ground, (before) => measurePeers(ground, field, before))
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
      ...field.absent,
      'Peers are timed as processes, from their start to their exit; Sharelock from its first chunk to the transition after the last. mysqlimport and myloader delete whole tables only, pt-archiver loads no files. Ways that commit every row, or every 250, are measured on fewer rows.',
      'What a killed way leaves is what a reader then finds, measured in the next section: Sharelock’s readers find no rows and a sentence until its run is resumed; one transaction for everything rolls back. A loader of a file a chunk is the floor by another program. One DELETE leaves all of purge to whoever comes next, for nothing can be purged before its end; chunks share the two cores with theirs.',
      'No peer checks the file, keeps two runs apart, or hides the half-replaced slice from readers.',
    ],
    settings: field.versions,
  }
}

export const peers: Section = {
  name: 'peers',
  title: 'The same job by other means',
  about:
    'Deleting a slice and loading its file into the same table, beside the neighbouring slices, by tools of the field and by the old ways. The same server and the same durability for all: a flushed log and a flushed binary log at each commit, no TLS.',
  needs: 'ground',
  measure: report,
}
