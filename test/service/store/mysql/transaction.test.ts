import { describe, expect, test } from 'vitest'
import { FAILURES } from '../../../../functions/contract/failure-table.ts'
import { Failure } from '../../../../functions/contract/failures.ts'
import { BLOCKED_TRIES_MAX, TRANSACTION_TRIES_MAX } from '../../../../functions/contract/limits.ts'
import type { Database } from '../../../../functions/store/mysql/database.ts'
import { databaseFailure } from '../../../../functions/store/mysql/failure.ts'
import { isDuplicateKey, repeatable, statement, transaction } from '../../../../functions/store/mysql/transaction.ts'
import type { Tx } from '../../../../functions/store/mysql/tx.ts'
import { totalsOf } from '../../../../functions/store/share-ratio.ts'
import { loadRows } from '../../../support/rows.ts'
import { linesOf, newSlice, useTestDatabase } from '../../../support/test-database.ts'

const db = useTestDatabase('transaction')
const error = (more: object): Error => Object.assign(new Error('as the driver says it'), more)

const connectionOf = async (database: Database): Promise<number> => {
  const [row] = await database.rows<{ id: number }>('select connection_id() as id')
  return row?.id ?? 0
}

type Way = (database: Database, work: () => Promise<void>) => Promise<void>

const WAYS: readonly (readonly [string, Way])[] = [
  ['a transaction', transaction],
  ['a statement that reads', statement],
  ['a statement that may be repeated', repeatable],
]

/** The connections of each try of a work that fails so at first. */
const triesOf = async (way: Way, first: Error): Promise<number[]> => {
  const database = db.connect()
  const connections: number[] = []
  await way(database, async () => {
    if (connections.push(await connectionOf(database)) === 1) throw first
  })
  return connections
}

/** How the work ends that always fails so, and after how many tries. */
const endOf = async (way: Way, always: Error): Promise<{ tries: number; end: unknown }> => {
  const database = db.connect()
  let tries = 0
  const end = await way(database, async () => {
    tries += 1
    throw always
  }).catch((thrown: unknown) => thrown)
  return { tries, end }
}

describe.each(WAYS)('%s', (_, way) => {
  test.each([[{ errno: 1213 }], [{ errno: 1205 }]])('is run again on its own connection after %j', async (more) => {
    const [first, second] = await triesOf(way, error(more))
    expect(second).toBe(first)
  })

  test.each([
    ...[1290, 1836, 1040, 1045, 1203, 1053, 1317, 3032, 3118, 4031].map((errno) => ({ errno })),
    ...['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOTFOUND'].map((code) => ({ code, errno: -111 })),
    { code: 'PROTOCOL_SEQUENCE_TIMEOUT' },
    { code: 'AUTH_SWITCH_PLUGIN_ERROR', fatal: true },
    { fatal: true },
  ])('is run again on a new connection after %j', async (more) => {
    const tries = await triesOf(way, error(more))
    expect(tries).toHaveLength(2)
    expect(new Set(tries).size).toBe(2)
  })

  test.each([
    ['an error that MySQL did not send', error({})],
    ['an error of the program', error({ code: 'ERR_INVALID_ARG_TYPE' })],
    ['an error of the driver about a statement', error({ fatal: false, code: 'ER_PARSE_ERROR' })],
  ])('is given up at once for %s, which passes as it is', async (_, always) => {
    expect(await endOf(way, always)).toEqual({ tries: 1, end: always })
  })

  test('is given up at once for a failure with a name of its own, whatever caused it', async () => {
    const failure = Object.assign(new Failure('StaleFence', 'Another run took over'), { errno: 1213 })
    expect(await endOf(way, failure)).toEqual({ tries: 1, end: failure })
  })

  test.each([
    ...[1044, 1049, 1142, 1146, 1148, 1153, 1193, 1665, 3024, 3948].map((errno) => ['DatabaseMisconfigured', errno]),
    ...[3, 1021, 1026, 1114].map((errno) => ['DatabaseFull', errno]),
    ...[1451, 1452, 1644, 3819].map((errno) => ['ConstraintRefused', errno]),
    ...[1062, 1264, 1366, 1406, 9999].map((errno) => ['DatabaseRefused', errno]),
  ] as [string, number][])('is given up at once by the name %s after %i', async (name, errno) => {
    const refused = error({ errno, fatal: true })
    const { tries, end } = await endOf(way, refused)
    expect(tries).toBe(1)
    expect(end).toMatchObject({ name, errno, cause: refused })
    expect(end).toHaveProperty('message', expect.stringContaining(`as the driver says it (error ${errno}).`))
  })

  test.each([
    ['DatabaseUnreachable', { errno: 1213 }, TRANSACTION_TRIES_MAX],
    ['DatabaseBlocked', { errno: 1205 }, BLOCKED_TRIES_MAX],
    ['DatabaseReadOnly', { errno: 1290 }, TRANSACTION_TRIES_MAX],
    ['DatabaseLoginRefused', { errno: 1045, fatal: true }, TRANSACTION_TRIES_MAX],
    ['DatabaseLoginRefused', { errno: 3118, fatal: true }, TRANSACTION_TRIES_MAX],
  ])('ends as %s where %j lasts, after %i tries, and the engine tries again later', async (name, more, triesMax) => {
    const { tries, end } = await endOf(way, error(more))
    expect(tries).toBe(triesMax)
    expect(end).toMatchObject({ name })
    expect(FAILURES[(end as Failure).name].family).toBe('transient')
  })

  test('is given up by name once its tries are used up', async () => {
    const always = error({ errno: 1213 })
    const { tries, end } = await endOf(way, always)
    expect(tries).toBe(TRANSACTION_TRIES_MAX)
    expect(end).toMatchObject({ name: 'DatabaseUnreachable', cause: always })
    expect(end).toHaveProperty(
      'message',
      expect.stringContaining(`after ${TRANSACTION_TRIES_MAX} tries: as the driver`),
    )
  })

  test('is given up by name where the pause before the next try would outlast the deadline', async () => {
    const database = db.connect(3_000)
    let tries = 0
    const late = way(database, async () => {
      tries += 1
      await database.rows('select 1')
      while (database.leftMs > 0) await new Promise((resume) => setTimeout(resume, 10))
      throw Object.assign(new Error(''), { errno: 1213 })
    })
    await expect(late).rejects.toMatchObject({ name: 'DatabaseUnreachable' })
    await expect(late).rejects.toThrow('connection lost')
    expect(tries).toBe(1)
  })
})

test('whatever ends a transaction early, none of its rows stay', async () => {
  for (const thrown of [error({}), error({ errno: 9999 }), new Failure('ChunkMismatch', 'no')]) {
    const slice = await newSlice(db.outside)
    const database = db.connect()
    const work = transaction(database, async () => {
      await loadRows(database, slice, linesOf(0, 2))
      throw thrown
    })
    await expect(work).rejects.toThrow(thrown.message)
    await database.rows('select 1')
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(0)
  }
})

test.each([
  ['committed', async () => undefined],
  ['rolled back', () => Promise.reject(new Error('no'))],
])('a transaction that was %s takes no statement any more', async (_, end) => {
  const database = db.connect()
  let kept: Tx | undefined
  await transaction(database, async (tx) => {
    kept = tx
    await end()
  }).catch(() => undefined)
  const slice = await newSlice(db.outside)
  const late = kept as Tx
  await expect(loadRows(late, slice, linesOf(0, 1))).rejects.toThrow('after the end of its transaction')
  await transaction(database, async () => {
    await expect(late.change('delete from share_ratio')).rejects.toThrow('after the end of its transaction')
    await expect(late.rows('select 1')).rejects.toThrow('after the end of its transaction')
  })
  expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(0)
})

test('a rerun has a transaction of its own, and that of the first try is over', async () => {
  const tried: Tx[] = []
  await transaction(db.connect(), async (tx) => {
    if (tried.push(tx) === 1) throw error({ errno: 1213 })
    await expect(tried[0]?.rows('select 1')).rejects.toThrow('after the end of its transaction')
    expect(await tx.rows('select 1 as one')).toEqual([{ one: 1 }])
  })
  expect(tried).toHaveLength(2)
})

test('only 1062 is a duplicate key', () => {
  expect(isDuplicateKey(databaseFailure(error({ errno: 1062 })))).toBe(true)
  expect(isDuplicateKey(databaseFailure(error({ errno: 1213 })))).toBe(false)
})
