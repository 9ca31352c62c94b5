import { expect, test } from 'vitest'
import type { DistributorFields } from '../../../functions/contract/operations.ts'
import {
  activeDistributors,
  addDistributor,
  allDistributors,
  findDistributor,
  putDistributor,
  setDistributor,
} from '../../../functions/store/distributor.ts'
import { transaction } from '../../../functions/store/mysql/transaction.ts'
import { useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('distributor')

const fields = (code: string, change: Partial<DistributorFields> = {}): DistributorFields => ({
  ...{ code, name: `${code} 음반`, active: true, sumRule: 'at-most', partyScheme: 'opaque' },
  ...change,
})
const add = (one: DistributorFields) => transaction(db.connect(), (tx) => addDistributor(tx, one))
const set = (one: DistributorFields) => transaction(db.connect(), (tx) => setDistributor(tx, one))

test('a distributor is added with everything that is said of it, refuses over-claims by default, and is there once', async () => {
  await add(fields('B', { sumRule: 'exact', partyScheme: 'ipi', overClaim: 'hold', replaceMode: 'in-place' }))
  await add(fields('A', { active: false }))
  const { id, ...b } = await findDistributor(db.outside, 'B')
  expect(id).toBeGreaterThan(0)
  expect(b).toEqual({
    ...{ code: 'B', name: 'B 음반', active: 1, sumRule: 'exact', partyScheme: 'ipi' },
    ...{ overClaim: 'hold', replaceMode: 'in-place' },
  })
  expect(await allDistributors(db.outside)).toMatchObject([
    { code: 'A', active: false, overClaim: 'refuse', replaceMode: 'standby' },
    { code: 'B', active: true, overClaim: 'hold' },
  ])
  expect((await activeDistributors(db.outside)).map(({ code }) => code)).toEqual(['B'])
  await expect(add(fields('B'))).rejects.toMatchObject({ errno: 1_062 })
  await expect(findDistributor(db.outside, 'b')).rejects.toMatchObject({ name: 'UnknownDistributor' })
})

test('a change returns what was before, and keeps the rule for over-claims and the mode where it says none', async () => {
  await add(fields('C', { overClaim: 'hold', replaceMode: 'in-place' }))
  const change = fields('C', { name: '새 이름', active: false, sumRule: 'exact', partyScheme: 'ipi' })
  expect(await set(change)).toMatchObject({ name: 'C 음반', active: true, sumRule: 'at-most', overClaim: 'hold' })
  expect(await findDistributor(db.outside, 'C')).toMatchObject({
    ...{ ...change, active: 0 },
    ...{ overClaim: 'hold', replaceMode: 'in-place' },
  })
  expect(await set({ ...change, overClaim: 'refuse' })).toMatchObject({ active: false })
  expect(await findDistributor(db.outside, 'C')).toMatchObject({ overClaim: 'refuse' })
  await expect(set(fields('NOBODY'))).rejects.toMatchObject({ name: 'UnknownDistributor' })
})

test('a change waits for the one that has begun', async () => {
  await add(fields('D'))
  const order: string[] = []
  const begun = Promise.withResolvers<void>()
  const first = transaction(db.connect(), async (tx) => {
    await setDistributor(tx, fields('D', { name: 'first' }))
    begun.resolve()
    while ((await db.outside.rows('select 1 from performance_schema.data_lock_waits limit 1')).length === 0);
    order.push('first')
  })
  await begun.promise
  const second = set(fields('D', { name: 'second' })).then(({ name }) => order.push(`second, after ${name}`))
  await Promise.all([first, second])
  expect(order).toEqual(['first', 'second, after first'])
})

test('putting adds, and changes what is there', async () => {
  await putDistributor(db.outside, fields('E', { overClaim: 'hold' }))
  await putDistributor(db.outside, fields('E', { active: false }))
  expect(await findDistributor(db.outside, 'E')).toMatchObject({ active: 0, overClaim: 'refuse' })
})
