import { expect, test } from 'vitest'
import { Manifest } from '../../../functions/contract/manifest.ts'
import * as messages from '../../../functions/contract/messages.ts'
import * as monthMessages from '../../../functions/contract/month-messages.ts'
import { DIGEST, execution, full, guarded, head, life, lock, manifest, request, slice, staged } from './messages.ts'

/** Values at the edges of what a field may hold: the last that is taken, the first that is not. */
const EDGES: readonly (readonly [string, (value: never) => boolean, readonly unknown[], readonly unknown[]])[] = [
  [
    'a month',
    (value: unknown) => messages.Month.safeParse(value).success,
    ['2026-01', '2026-09', '2026-10', '2026-12', '2099-12'],
    ['2026-00', '2026-13', '2026-1', '1999-12', '12026-01', '2026-10-01', ' 2026-10'],
  ],
  [
    'a distributor code',
    (value: unknown) => messages.DistributorCode.safeParse(value).success,
    ['A', 'a-B_9', 'A'.repeat(32)],
    ['', 'A'.repeat(33), 'A B', 'AR/IA', '가'],
  ],
  [
    'a digest',
    (staged: unknown) => messages.Source.safeParse({ staged }).success,
    [DIGEST],
    [DIGEST.slice(1), `${DIGEST}0`, DIGEST.toUpperCase(), `g${DIGEST.slice(1)}`],
  ],
  [
    'a sum of shares',
    (shareSum: unknown) => Manifest.safeParse({ ...manifest, shareSum }).success,
    ['0.000001', '80000000.000000'],
    ['25', '25.0', '25.0000000', '.000001', '-1.000000', '1e6', '2x.000000'],
  ],
  [
    'a number of rows',
    (rows: unknown) => Manifest.safeParse({ ...manifest, rows }).success,
    [1, 30_000_000],
    [0, -1, 1.5, '1'],
  ],
  [
    'a number of tracks and parties',
    (count: unknown) => Manifest.safeParse({ ...manifest, tracks: count, parties: count }).success,
    [1, 2],
    [0],
  ],
  ['the chunks of a manifest', (chunks: unknown) => Manifest.safeParse({ ...manifest, chunks }).success, [], [[]]],
  [
    'the rows and bytes of a chunk',
    (size: unknown) =>
      Manifest.safeParse({ ...manifest, chunks: [{ ...manifest.chunks[0], rows: size, bytes: size }] }).success,
    [1, 10_000],
    [0],
  ],
  [
    'the chunks of a staged source',
    (chunks: unknown) =>
      messages.OpenJobInput.safeParse({
        ...{ request: full, execution, life, slice, lock, head, own: null },
        staged: { ...staged, chunks },
      }).success,
    [1, 3_000],
    [0],
  ],
  [
    'a token',
    (token: unknown) => messages.ReleaseLockInput.safeParse({ slice, lock: { token, held: true } }).success,
    ['t', 't'.repeat(128)],
    ['', 't'.repeat(129)],
  ],
  [
    "a distributor's id",
    (distributorId: unknown) => messages.ReadHeadInput.safeParse({ slice: { ...slice, distributorId } }).success,
    [1, 2],
    [0, 1.5],
  ],
  [
    'an item',
    (from: unknown) => messages.ChunkInput.safeParse({ ...guarded, item: { from, to: from } }).success,
    [0, 1, 10_000],
    [-1],
  ],
  [
    'the months back',
    (monthsBack: unknown) =>
      monthMessages.PlanMonthInput.safeParse({ request: { month: '2026-10' }, monthsBack }).success,
    [0, 1, 12],
    [-1, 13],
  ],
  [
    'a scheduled time',
    (scheduledAt: unknown) => monthMessages.MonthRequest.safeParse({ scheduledAt }).success,
    ['2026-11-09T17:00:00Z', '2026-11-10T02:00:00+09:00'],
    ['2026-11-09', '2026-11-09T17:00:00'],
  ],
  [
    'the day of the month',
    (registeredByDay: unknown) => monthMessages.SweepInput.safeParse({ registeredByDay, monthsBack: 1 }).success,
    [1, 2, 31],
    [0, 32],
  ],
  [
    'the name of who asks',
    (requestedBy: unknown) => messages.ExecutionInput.safeParse({ ...request, requestedBy }).success,
    ['', 'x'.repeat(2_048)],
    ['x'.repeat(2_049)],
  ],
  [
    "an execution's name",
    (name: unknown) => messages.StageSourceInput.safeParse({ request, execution: name }).success,
    ['x', 'x'.repeat(512)],
    ['', 'x'.repeat(513), 'a b', 'run-재실행', '재실행-1', 'run\n'],
  ],
]

test.each(EDGES)('%s is taken up to its bounds and refused beyond', (_, takes, good, bad) => {
  expect(good.filter((value) => !takes(value as never))).toEqual([])
  expect(bad.filter((value) => takes(value as never))).toEqual([])
})
