import { describe, expect, test } from 'vitest'
import { EXECUTION_NAME_CHARS_MAX } from '../../../../functions/contract/limits.ts'
import { UNLOCKED_DAYS } from '../../../../functions/contract/support-limits.ts'
import {
  couldOpen,
  endedOf,
  isSameStart,
  type Life,
  markEnded,
  markUnlocked,
  mayOpen,
  SAME_START_MS,
} from '../../../../functions/store/job/execution.ts'
import { transaction } from '../../../../functions/store/mysql/transaction.ts'
import { useTestDatabase } from '../../../support/test-database.ts'

const db = useTestDatabase('execution')

const STARTED: Life = { startedMs: Date.parse('2026-12-01T00:00:00Z'), redrives: 0 }
const later = (ms: number, redrives = 0): Life => ({ startedMs: STARTED.startedMs + ms, redrives })

const ended = async (name: string, life: Life): Promise<void> =>
  await transaction(db.connect(), async (tx) => await markEnded(tx, name, life))
const unlocked = async (name: string): Promise<void> =>
  await transaction(db.connect(), async (tx) => await markUnlocked(tx, name))
const opens = async (name: string, life: Life = STARTED): Promise<boolean> =>
  await transaction(db.connect(), async (tx) => await mayOpen(tx, name, life))
const rowsInAll = async (): Promise<number> => (await db.outside.rows('select name from execution')).length

describe('a life of an execution', () => {
  test('opens until its end is told, and the next redrive opens again', async () => {
    expect(await opens('one')).toBe(true)
    await ended('one', STARTED)
    expect(await opens('one')).toBe(false)
    expect(await opens('one', later(0, 1))).toBe(true)
    await ended('one', later(0, 1))
    expect(await opens('one', later(0, 1))).toBe(false)
    expect(await opens('one', later(0, 2))).toBe(true)
  })

  test('is told late: an older one takes no newer end back, by its start or by its redrives', async () => {
    await ended('late', later(60_000, 2))
    await ended('late', later(60_000, 1))
    await ended('late', STARTED)
    expect(await opens('late', later(60_000, 2))).toBe(false)
    expect(await opens('late', later(60_000, 3))).toBe(true)
    await ended('late', later(120_000))
    expect(await opens('late', later(120_000))).toBe(false)
  })

  test('is the same by starts of less than a second apart', async () => {
    expect([0, 1, SAME_START_MS - 1, SAME_START_MS].map((apart) => isSameStart(5_000, 5_000 + apart))).toEqual([
      true,
      true,
      true,
      false,
    ])
    await ended('second', STARTED)
    expect(await opens('second', later(SAME_START_MS - 1))).toBe(false)
    expect(await opens('second', later(1 - SAME_START_MS))).toBe(false)
    expect(await opens('second', later(SAME_START_MS))).toBe(true)
  })

  test('opens nothing once its slice was unlocked, for as many days as that is kept', async () => {
    await unlocked('unlocked')
    expect(await opens('unlocked')).toBe(false)
    expect(await opens('unlocked', later(60_000, 5))).toBe(false)
    await db.outside.change('update execution set unlocked_at = unlocked_at - interval ? day where name = ?', [
      UNLOCKED_DAYS,
      'unlocked',
    ])
    expect(await opens('unlocked')).toBe(true)
  })
})

test('only the executions whose end was told have ended', async () => {
  await ended('told', STARTED)
  await unlocked('seen')
  await opens('begun')
  expect(await endedOf(db.outside, ['told', 'seen', 'begun', 'unknown'])).toEqual(new Set(['told']))
  expect(await endedOf(db.outside, [])).toEqual(new Set())
})

test('an end that the database did not keep is no end', async () => {
  await db.outside.change(
    `create trigger moved before insert on execution for each row set new.name = concat(new.name, '-moved')`,
  )
  const refused = { name: 'DatabaseRefused', message: expect.stringContaining('may open no job was not written') }
  await expect(ended('kept', STARTED)).rejects.toMatchObject(refused)
  await expect(unlocked('kept')).rejects.toMatchObject(refused)
  expect(await opens('kept')).toBe(false)
  await db.outside.change('drop trigger moved')
})

test('a name that no execution can have leaves no row', async () => {
  const longest = 'x'.repeat(EXECUTION_NAME_CHARS_MAX)
  for (const [name, could] of [
    ['a-b_1', true],
    ['arn:aws:states:ap-northeast-2:123456789012:execution:machine:a', true],
    ['a/with-a-token', true],
    [longest, true],
    [`${longest}x`, false],
    ['한글', false],
    ['a b', false],
    ['ab\n', false],
    ['', false],
  ] as const)
    expect(couldOpen(name), name).toBe(could)
  const before = await rowsInAll()
  await unlocked('한글')
  await unlocked('')
  expect(await rowsInAll()).toBe(before)
  await unlocked('ascii')
  expect(await rowsInAll()).toBe(before + 1)
})
