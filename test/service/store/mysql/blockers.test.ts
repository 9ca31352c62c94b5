import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openJob } from '../../../../functions/job/open-job.ts'
import { exclusively } from '../../../../functions/store/job/held.ts'
import { openSession } from '../../../../functions/store/mysql/connection.ts'
import { Database } from '../../../../functions/store/mysql/database.ts'
import { endOnSideConnection } from '../../../../functions/store/mysql/side-connection.ts'
import { statement } from '../../../../functions/store/mysql/transaction.ts'
import type { Options } from '../../../../functions/store/mysql/tx.ts'
import { createAppUser } from '../../../../functions/store/schema/app-user.ts'
import { opening, testContext } from '../../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../../support/test-database.ts'

/* Who keeps a session of ours waiting: our own is ended, anybody else's is named. */
const db = useTestDatabase('blockers')

/** The functions' user of another stage on the same server: its sessions carry a tag too. */
const OTHER = { name: `other_${process.pid}`, password: 'secret' }
let settlement: Database

beforeAll(async () => {
  await createAppUser(db.address, { ...OTHER, auth: 'password' })
  await db.outside.change(`grant lock tables on \`${db.address.DATABASE_NAME}\`.* to ?`, [OTHER.name])
  settlement = new Database({ ...db.address, DATABASE_USER: OTHER.name, DATABASE_PASSWORD: OTHER.password })
})
afterAll(async () => {
  await settlement.close()
  await db.outside.change('drop user ?', [OTHER.name])
})

const idOf = async (database: Database): Promise<number> => {
  const [row] = await database.rows<{ id: number }>('select connection_id() as id')
  return row?.id ?? 0
}
const isAlive = async (id: number): Promise<boolean> =>
  (await db.outside.rows('select 1 from information_schema.processlist where id = ?', [id])).length > 0
const newJob = async () => openJob(testContext(db.connect()), opening(await newSlice(db.outside), 'a/1', null))
const lockJob = (database: Database, id: number, options?: Options) =>
  database.rows('select id from job where id = ? for update', [id], options)
/** A look each second at who is in the way. */
const IMPATIENT: Options = { patienceS: 1 }

describe("another user's session", () => {
  test('that keeps a row is named with its last statement and lives on, though we may end it', async () => {
    const { id } = await newJob()
    await settlement.begin()
    const session = await idOf(settlement)
    await settlement.rows(`select id from job where id = ? and halt_cause <=> 'a secret' or id = ? for update`, [
      id,
      id,
    ])
    const blocked = exclusively(db.connect(14_000), id, async () => 'done')
    await expect(blocked).rejects.toMatchObject({ name: 'DatabaseBlocked' })
    const data = { session, user: OTHER.name, host: expect.any(String) }
    await expect(blocked).rejects.toMatchObject({ data })
    const said = await blocked.catch((error: Error) => error.message)
    expect(said).toContain(`session ${session} of ${OTHER.name}@`)
    expect(said).toContain(`kill ${session}`)
    expect(said).toMatch(/idle for \d+ s, last statement: SELECT `id` FROM `job`/)
    expect(said).not.toContain('a secret')
    await settlement.commit()
    expect(await idOf(settlement)).toBe(session)
    expect(await exclusively(db.connect(), id, async () => 'done')).toBe('done')
  })

  test('that locks a whole table is named within the time that a task has left', async () => {
    const session = await idOf(settlement)
    await settlement.change('lock tables distributor read')
    const database = db.connect(5_000)
    const blocked = statement(database, () =>
      database.change(`update distributor set name = '' where id = 0`, [], IMPATIENT),
    )
    await expect(blocked).rejects.toMatchObject({ name: 'DatabaseBlocked' })
    await expect(blocked).rejects.toThrow(`session ${session} of ${OTHER.name}@`)
    await settlement.change('unlock tables')
  })
})

describe('a session of our own', () => {
  test('that is frozen with the row is ended', async () => {
    const { id } = await newJob()
    const frozen = db.connect()
    await frozen.begin()
    const session = await idOf(frozen)
    await lockJob(frozen, id)
    expect(await exclusively(db.connect(), id, async () => 'done')).toBe('done')
    expect(await isAlive(session)).toBe(false)
  })

  test('that waits itself for somebody else is left alone, and both finish once that one ends', async () => {
    const [first, second] = [await newJob(), await newJob()]
    await settlement.begin()
    await lockJob(settlement, first.id)
    const middle = db.connect()
    await middle.begin()
    const session = await idOf(middle)
    await lockJob(middle, second.id)
    const passing = lockJob(middle, first.id).then(() => middle.commit())
    const last = db.connect(9_000)
    const waiting = statement(last, () => lockJob(last, second.id, IMPATIENT))
    await new Promise((resume) => setTimeout(resume, 4_000))
    expect(await isAlive(session)).toBe(true)
    await settlement.commit()
    await Promise.all([passing, waiting])
  })

  test('is ended only while it carries its own tag: its number may be an innocent one', async () => {
    const { connection, session } = await openSession(db.address)
    connection.on('error', () => undefined)
    await endOnSideConnection(db.address, { ...session, tag: 'of a session on the server before the failover' })
    expect(await isAlive(session.id)).toBe(true)
    await endOnSideConnection(db.address, session)
    await expect.poll(() => isAlive(session.id)).toBe(false)
    connection.destroy()
  })
})
