import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { planItems } from '../../../functions/contract/chunks.ts'
import { readEnv } from '../../../functions/contract/env.ts'
import {
  CHUNK_ROWS_MAX,
  ITEM_CHUNKS,
  MAP_ITEMS_MAX,
  SLICE_ROWS_PLANNED,
  TRACK_ROWS_MAX,
} from '../../../functions/contract/limits.ts'
import { chunkKey, formatUnits, manifestKey } from '../../../functions/contract/manifest.ts'
import { ExecutionInput, StageSourceInput } from '../../../functions/contract/messages.ts'
import { handlerFile, TASK_NAMES } from '../../../functions/contract/tasks.ts'
import { lockKey, monthDate, sliceName } from '../../../functions/contract/words.ts'

describe('Map items', () => {
  test('items cover every chunk once, in order, and never exceed the limit', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(20_000), { maxLength: 5_000 }), (unsorted) => {
        const numbers = unsorted.toSorted((a, b) => a - b)
        const items = planItems(numbers)
        expect(items.length).toBeLessThanOrEqual(MAP_ITEMS_MAX)
        const covered = numbers.map((number) => items.filter((item) => item.from <= number && number <= item.to).length)
        expect(covered.every((count) => count === 1)).toBe(true)
        expect(items.every((item, index) => index === 0 || (items[index - 1]?.to ?? 0) < item.from)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  const sizes = (count: number) =>
    planItems(Array.from({ length: count }, (_, number) => number)).map(({ from, to }) => to - from + 1)

  test('an item is worth its Lambda call, and towards the end smaller, so that lanes end together', () => {
    expect(sizes(48)).toEqual([ITEM_CHUNKS, ITEM_CHUNKS, ITEM_CHUNKS, 6, 5, 4, 3, 2, 1, 1, 1, 1])
    expect(sizes(9)).toEqual([3, 2, 1, 1, 1, 1])
    expect(sizes(ITEM_CHUNKS)).toEqual([ITEM_CHUNKS])
  })

  test('three times the largest slice fills nearly as many as there may be, and no more', () => {
    const count = Math.ceil((3 * SLICE_ROWS_PLANNED) / (CHUNK_ROWS_MAX - TRACK_ROWS_MAX))
    expect(sizes(count).length).toBeLessThanOrEqual(MAP_ITEMS_MAX)
    expect(sizes(count).length).toBeGreaterThan(0.9 * MAP_ITEMS_MAX)
  })

  test('no chunk, no item', () => {
    expect(planItems([])).toEqual([])
  })
})

describe('the input of an execution', () => {
  const good = { distributor: 'ARIA', month: '2026-10', source: { key: 'incoming/aria.csv' } }

  test('defaults are the cautious ones', () => {
    expect(ExecutionInput.parse(good)).toEqual({
      ...good,
      onHeld: 'fail',
      onOutage: 'halt',
      supersede: false,
      force: false,
      requestedBy: 'unknown',
    })
  })

  test.each([
    ['a month that does not exist', { month: '2026-13' }],
    ['a month with a day', { month: '2026-10-01' }],
    ['a code with a slash', { distributor: 'AR/IA' }],
    ['a code over 32 characters', { distributor: 'A'.repeat(33) }],
    ['a key outside incoming/', { source: { key: 'staged/x' } }],
    ['two sources at once', { source: { key: 'incoming/a', undo: true } }],
    ['an unknown field', { sorce: 'x' }],
    ['a policy that does not exist', { onHeld: 'steal' }],
  ])('%s is refused', (_, change) => {
    expect(ExecutionInput.safeParse({ ...good, ...change }).success).toBe(false)
  })
})

describe("the machine's first task", () => {
  test('refuses an execution whose name MySQL could not keep, before any work', () => {
    const request = { distributor: 'ARIA', month: '2026-10', source: { key: 'incoming/aria.csv' } }
    const arn = 'arn:aws:states:ap-northeast-2:000000000000:execution:Job:'
    expect(StageSourceInput.safeParse({ request, execution: `${arn}again-1` }).success).toBe(true)
    expect(StageSourceInput.safeParse({ request, execution: `${arn}재실행-1` }).success).toBe(false)
  })
})

describe('the environment', () => {
  const good = { STAGE: 'x', BUCKET: 'b', DATABASE_HOST: 'db.example', DATABASE_USER: 'u', LOCK_HOST: 'lock.example' }

  test('TLS and IAM are the defaults', () => {
    expect(readEnv(good)).toMatchObject({
      DATABASE_TLS: 'verify',
      DATABASE_AUTH: 'iam',
      LOCK_TLS: 'verify',
      LOCK_AUTH: 'iam',
    })
  })

  test('TLS can be switched off on loopback only', () => {
    expect(() => readEnv({ ...good, DATABASE_TLS: 'off' })).toThrow(/DATABASE_TLS/)
    expect(() => readEnv({ ...good, LOCK_TLS: 'off' })).toThrow(/LOCK_TLS/)
    expect(readEnv({ ...good, DATABASE_HOST: '127.0.0.1', DATABASE_TLS: 'off' }).DATABASE_TLS).toBe('off')
  })

  test('a missing variable is named', () => {
    expect(() => readEnv({ ...good, BUCKET: undefined })).toThrow(/BUCKET/)
  })
})

test('handler files are the task names in kebab case', () => {
  expect(TASK_NAMES.map(handlerFile)).toContain('begin-registering')
  expect(handlerFile('OpenJob')).toBe('open-job')
})

test("a lock's key keeps the slice in one hash slot", () => {
  expect(lockKey({ distributor: 'ARIA', month: '2026-10' })).toBe('{sharelock:ARIA:2026-10}:lock')
})

test('a slice has one name for people, one first day for MySQL and one folder for each staged source', () => {
  expect(sliceName({ distributor: 'ARIA', month: '2026-10' })).toBe('ARIA 2026-10')
  expect(monthDate('2026-10')).toBe('2026-10-01')
  expect(manifestKey('abc')).toBe('staged/abc/manifest.json')
  expect([0, 12, 1_234_567].map((number) => chunkKey('abc', number))).toEqual([
    'staged/abc/000000.tsv',
    'staged/abc/000012.tsv',
    'staged/abc/1234567.tsv',
  ])
})

test('units are written as percentages with six decimals', () => {
  expect([1n, 999_999n, 25_000_000n, 100_000_000n, 80_000_000_000_000n].map(formatUnits)).toEqual([
    '0.000001',
    '0.999999',
    '25.000000',
    '100.000000',
    '80000000.000000',
  ])
})
