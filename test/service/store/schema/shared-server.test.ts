import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareDatabase } from '../../../../functions/job/prepare-database.ts'
import { blockersOf } from '../../../../functions/store/mysql/blockers.ts'
import { connect, openSession } from '../../../../functions/store/mysql/connection.ts'
import { Database } from '../../../../functions/store/mysql/database.ts'
import { databaseNames } from '../../../../infra/config/stores.ts'
import { deployed, EXISTING } from '../../../infra/existing.ts'
import { useTestDatabase } from '../../../support/test-database.ts'

/* Two stages of one configuration on one MySQL, as two deployments beside each other make them. */
const db = useTestDatabase('shared')
const run = randomBytes(3).toString('hex')

const stages = ['one', 'two'].map((name) => {
  const { schema, user } = databaseNames(`${name}-${run}`, deployed(EXISTING).database)
  const master = { ...db.address, DATABASE_NAME: schema }
  return { master, user, app: { ...master, DATABASE_USER: user, DATABASE_PASSWORD: user } }
})
const [one, two] = stages as [(typeof stages)[number], (typeof stages)[number]]

beforeAll(async () => {
  for (const { master, user } of stages) await prepareDatabase(master, { name: user, auth: 'password', password: user })
})
afterAll(async () => {
  for (const { master, user } of stages) {
    await db.outside.change(`drop database \`${master.DATABASE_NAME}\``)
    await db.outside.change('drop user ?', [user])
  }
})

test('each stage has a schema and a user, and may not read the other', async () => {
  expect([one.user, one.master.DATABASE_NAME]).toEqual([`sharelock_one_${run}`, `sharelock_one_${run}`])
  const app = new Database(one.app)
  expect(await app.rows('select count(*) as rows_ from share_ratio')).toEqual([{ rows_: 0 }])
  await expect(app.rows(`select * from ${two.master.DATABASE_NAME}.share_ratio`)).rejects.toThrow(/denied/)
  await app.close()
})

test("a session of the other stage that is in the way is named, and not taken for one's own", async () => {
  const { connection: waiting, session } = await openSession(one.app)
  const stranger = await connect({ ...one.master, DATABASE_USER: db.address.DATABASE_USER })
  await stranger.query(`grant select, insert on ${one.master.DATABASE_NAME}.distributor to ?@'%'`, [two.user])
  const holder = await connect({ ...two.app, DATABASE_NAME: one.master.DATABASE_NAME })
  await holder.query('begin')
  await holder.query(
    `insert into distributor (code, name, sum_rule, party_scheme) values ('X', 'x', 'exact', 'opaque')`,
  )
  const blocked = waiting
    .query(`insert into distributor (code, name, sum_rule, party_scheme) values ('X', 'x', 'exact', 'opaque')`)
    .catch((error: Error) => error)
  await expect
    .poll(async () => (await blockersOf(stranger, session)).map(({ user, isOurs }) => ({ user, isOurs })))
    .toEqual([{ user: two.user, isOurs: false }])
  await holder.query('rollback')
  await blocked
  for (const each of [waiting, stranger, holder]) each.destroy()
})
