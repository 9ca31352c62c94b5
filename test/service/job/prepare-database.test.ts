import { randomBytes } from 'node:crypto'
import { afterAll, expect, inject, test } from 'vitest'
import { prepareDatabase } from '../../../functions/job/prepare-database.ts'
import { findDistributor } from '../../../functions/store/distributor.ts'
import type { DatabaseAddress } from '../../../functions/store/mysql/connection.ts'
import { Database } from '../../../functions/store/mysql/database.ts'
import { createAppUser, privilegesOf } from '../../../functions/store/schema/app-user.ts'
import { migrate } from '../../../functions/store/schema/migrate.ts'

const server = inject('mysql')
const databases: string[] = []
const users: string[] = []

/** A database that nobody migrated yet. */
const empty = (): DatabaseAddress => {
  const name = `prepare_${randomBytes(4).toString('hex')}`
  databases.push(name)
  return {
    DATABASE_HOST: server.host,
    DATABASE_PORT: server.port,
    DATABASE_NAME: name,
    DATABASE_USER: server.user,
    DATABASE_PASSWORD: server.password,
    DATABASE_AUTH: 'password',
    DATABASE_TLS: 'off',
    AWS_REGION: 'ap-northeast-2',
  }
}

const newUser = () => {
  const name = `prepared_${randomBytes(4).toString('hex')}`
  users.push(name)
  return { name, auth: 'password', password: 'secret' } as const
}

/** As another program would look. */
const inside = async <T>(address: DatabaseAddress, look: (database: Database) => Promise<T>): Promise<T> => {
  const database = new Database(address)
  try {
    return await look(database)
  } finally {
    await database.close()
  }
}

afterAll(async () => {
  await inside({ ...empty(), DATABASE_NAME: 'mysql' }, async (database) => {
    for (const name of databases) await database.change(`drop database if exists \`${name}\``)
    for (const name of users) await database.change('drop user if exists ?', [name])
  })
})

test('an empty database gets the schema, the user and the smoke distributor; a second run changes nothing', async () => {
  const address = empty()
  const user = newUser()
  const first = await prepareDatabase(address, user, { smokeDistributor: 'SMOKE' })
  expect(first.applied).toContain('001-tables.sql')
  expect(first.note).toMatch(/^applied \d+ migrations$/)
  const smoke = await inside(address, (database) => findDistributor(database, 'SMOKE'))
  expect(smoke).toMatchObject({ active: 0, sumRule: 'exact' })
  expect((await privilegesOf(address, user.name)).length).toBeGreaterThan(1)
  expect(await prepareDatabase(address, user, { smokeDistributor: 'SMOKE' })).toMatchObject({
    applied: [],
    note: 'schema is current',
  })
})

test('a newer schema is left alone by the older migrator of a rollback, its users too', async () => {
  const address = empty()
  await prepareDatabase(address, newUser())
  await inside(address, (database) =>
    database.change(`insert into schema_migration (name) values ('999-from-the-future.sql')`),
  )
  const other = newUser()
  expect(await prepareDatabase(address, other, { smokeDistributor: 'SMOKE' })).toEqual({
    applied: [],
    current: '999-from-the-future.sql',
    note: 'schema is newer: nothing to do',
  })
  await expect(privilegesOf(address, other.name)).rejects.toThrow(/no such grant/i)
  await expect(inside(address, (database) => findDistributor(database, 'SMOKE'))).rejects.toThrow(/SMOKE/)
})

test('of three migrators at once one applies and the others find the schema current', async () => {
  const address = empty()
  const reports = await Promise.all([1, 2, 3].map(() => migrate(address)))
  const applied = reports.map((report) => report.applied.length)
  expect(applied.filter((count) => count > 0)).toHaveLength(1)
})

test('a server whose certificate is not signed by the authorities of RDS is refused, before any password is sent', async () => {
  const address = { ...empty(), DATABASE_TLS: 'verify' } as const
  await expect(migrate(address)).rejects.toThrow(/certificate/i)
  await expect(createAppUser(address, newUser())).rejects.toThrow(/certificate/i)
})

test('an instance that the last deployment did not know was restored: its fences are raised, once', async () => {
  const address = empty()
  const floor = () =>
    inside(address, async (database) => {
      const [row] = await database.rows<{ floor: number }>('select floor from fence_floor')
      return row?.floor
    })
  const user = newUser()
  await prepareDatabase(address, user, { resourceId: 'db-FIRST' })
  expect((await prepareDatabase(address, user, { resourceId: 'db-FIRST' })).note).toBe('schema is current')
  expect(await floor()).toBe(0)
  const beforeS = Math.floor(Date.now() / 1_000)
  expect((await prepareDatabase(address, user, { resourceId: 'db-SECOND' })).note).toBe(
    'schema is current; the instance was restored, and its fences are raised',
  )
  const raised = await floor()
  expect(raised).toBeGreaterThanOrEqual(beforeS)
  await prepareDatabase(address, user, { resourceId: 'db-SECOND' })
  expect(await floor()).toBe(raised)
})
