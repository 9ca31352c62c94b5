import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TraceEvent } from '../../model/replay/events.ts'
import { Recording } from '../../model/replay/record.ts'
import { refusalText, replay } from '../../model/replay/replay.ts'
import { beforeTask } from '../../support/faults.ts'
import { shareFile } from '../../support/share-file.ts'
import { FaultLab } from '../matrix/fault-lab.ts'

/*
 * What a real stack did, in the order in which MySQL committed it, is taken through the model of the protocol step by step;
 * the fault matrix does it for every trial. A trace that was tampered with is refused where it is wrong.
 */

let lab: FaultLab

beforeAll(async () => {
  lab = await FaultLab.start()
}, 300_000)
afterAll(() => lab.stop())

const OLD = shareFile(150, 5)

const refusal = async (events: readonly TraceEvent[]): Promise<string> => {
  const refused = await replay(events, 'standby')
  return refused === undefined ? 'taken' : refusalText(refused, events)
}

const indexOf = (events: readonly TraceEvent[], kind: TraceEvent['kind'], part?: number): number =>
  events.findIndex((event) => event.kind === kind && (part === undefined || event.part === part))

/** The trace with the event at one place moved to another. */
const moved = (events: readonly TraceEvent[], from: number, to: number): TraceEvent[] => {
  const [event] = events.slice(from, from + 1)
  const rest = events.toSpliced(from, 1)
  return event === undefined ? [...rest] : rest.toSpliced(to, 0, event)
}

test('a stopped run, another that goes on with it, and a correction are what the model does; tampered with they are not', async () => {
  const { on } = lab
  const slice = await on.newSlice()
  const recording = await Recording.start(lab, slice)
  await on.seed(slice, OLD)
  const source = await on.stage(shareFile(250, 21), 25)
  const { promise: started, resolve } = Promise.withResolvers<string>()
  beforeTask(on, 'RegisterChunk', slice, async () => on.stop(await started))
  const arn = await on.start({ ...slice, source })
  resolve(arn)
  expect(await on.ended(arn)).toMatchObject({ status: 'ABORTED' })
  expect(await on.run({ ...slice, source })).toMatchObject({ status: 'SUCCEEDED' })
  expect(await on.run({ ...slice, source: await on.stage(shareFile(120, 22), 25) })).toMatchObject({
    status: 'SUCCEEDED',
  })
  const events = await recording.stop({ withLooks: true })
  const kinds = new Set(events.map(({ kind }) => kind))
  for (const kind of ['SEEDED', 'OPENED', 'CHUNK', 'HALTED', 'OVER', 'IS_REGISTERED', 'LOOKED', 'DELETED_KEY'] as const)
    expect(kinds).toContain(kind)
  expect(await refusal(events)).toBe('taken')

  // Two marks change places over the change of the state between them.
  const chunk = indexOf(events, 'CHUNK', 1)
  expect(await refusal(moved(events, chunk, indexOf(events, 'IS_DELETED')))).toContain(events[chunk]?.what)
  expect(await refusal(moved(events, indexOf(events, 'CHUNK', 0), chunk))).toContain('is DELETED')
  // REGISTERED before the last chunk, and a switch before REGISTERED.
  const registered = indexOf(events, 'IS_REGISTERED')
  const last = events.findLastIndex(({ kind }, index) => kind === 'CHUNK' && index < registered)
  expect(await refusal(moved(events, registered, last))).toContain('is REGISTERED')
  const begins = indexOf(events, 'BEGINS')
  const { shownJob = 0, slot = 0 } = events[registered] ?? {}
  const switched = events.map((event, index) => (index === begins ? { ...event, shownJob, slot } : event))
  expect(await refusal(switched)).toContain('is REGISTERING')
})

test('rows that a stranger takes away are in the trace, and the model refuses them', async () => {
  const { on } = lab
  const slice = await on.newSlice()
  const recording = await Recording.start(lab, slice)
  expect(await on.run({ ...slice, source: await on.stage(shareFile(60, 23), 25) })).toMatchObject({
    status: 'SUCCEEDED',
  })
  const sql = 'delete s from share_ratio s join distributor d on d.id = s.distributor_id where d.code = ?'
  await on.outside.query(sql, [slice.distributor])
  const events = await recording.stop({ withLooks: false })
  expect(await refusal(events)).toContain('rows of the slice are changed without a mark, by nobody known')
})
