import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { openJob } from '../../../../functions/job/open-job.ts'
import { markDeleted, planDelete } from '../../../../functions/job/transitions.ts'
import { openSession } from '../../../../functions/store/mysql/connection.ts'
import { Database } from '../../../../functions/store/mysql/database.ts'
import { clearWay } from '../../../../functions/store/mysql/side-connection.ts'
import { transaction } from '../../../../functions/store/mysql/transaction.ts'
import { totalsOf } from '../../../../functions/store/share-ratio.ts'
import { loadRows } from '../../../support/rows.ts'
import { guarded, opening, testContext } from '../../../support/test-context.ts'
import { linesOf, newSlice, useTestDatabase } from '../../../support/test-database.ts'

/* What a session of ours may be relied on for. */
const db = useTestDatabase('session')

const open: { servers: Server[]; sockets: Socket[] } = { servers: [], sockets: [] }
afterEach(() => {
  for (const socket of open.sockets.splice(0)) socket.destroy()
  for (const server of open.servers.splice(0)) server.close()
})

/** A proxy as RDS Proxy is one: it greets with a connection number of its own. @returns its port */
const proxy = async (sent: string[]): Promise<number> => {
  const server = createServer((client) => {
    const upstream = dial(db.address.DATABASE_PORT, db.address.DATABASE_HOST)
    open.sockets.push(client, upstream)
    let isGreeting = true
    upstream.on('data', (packet) => {
      // Header of 4 bytes, protocol version, server version up to its NUL, then the number.
      if (isGreeting) packet.writeUInt32LE(4_242, packet.indexOf(0, 5) + 1)
      isGreeting = false
      client.write(packet)
    })
    client.on('data', (packet) => {
      sent.push(packet.toString('latin1'))
      upstream.write(packet)
    })
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
    client.on('close', () => upstream.destroy())
  })
  open.servers.push(server)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return (server.address() as { port: number }).port
}

test('an endpoint that greets with another number than its server has is refused before anything is sent', async () => {
  const sent: string[] = []
  const database = new Database({ ...db.address, DATABASE_PORT: await proxy(sent) })
  const refused = transaction(database, () => database.rows('select 1'))
  await expect(refused).rejects.toMatchObject({ name: 'DatabaseMisconfigured' })
  await expect(refused).rejects.toThrow(/greets as connection 4242.*own endpoint, not to a proxy/)
  expect(sent.filter((text) => /start transaction|select 1/.test(text))).toEqual([])
})

test('two sessions have two tags, and the server shows each', async () => {
  const [one, two] = [await openSession(db.address), await openSession(db.address)]
  expect(one.session.tag).not.toBe(two.session.tag)
  expect(await clearWay(db.address, one.session)).toEqual([])
  for (const { connection } of [one, two]) connection.destroy()
})

test('a change counts rows that are changed, and not those that only match', async () => {
  const { distributorId } = await newSlice(db.outside)
  const { affectedRows } = await db.outside.change('update distributor set name = name where id = ?', [distributorId])
  expect(affectedRows).toBe(0)
})

test.each([
  ['was cut off by its deadline', async (database: Database) => database.discard()],
  [
    'was ended by the server while nothing ran on it',
    async (database: Database) => {
      const [me] = await database.rows<{ id: number }>('select connection_id() as id')
      await db.outside.change('kill ?', [me?.id ?? 0])
      await new Promise((resume) => setTimeout(resume, 500))
    },
  ],
])('a transaction whose connection %s does not go on upon another one', async (_, lose) => {
  const slice = await newSlice(db.outside)
  const database = db.connect()
  await database.begin()
  await lose(database)
  await expect(loadRows(database, slice, linesOf(0, 1))).rejects.toMatchObject({ name: 'DatabaseUnreachable' })
  expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(0)
  await database.rollback()
  await loadRows(database, slice, linesOf(0, 1))
})

describe('a slice is only empty', () => {
  test('when no stranger is about to commit a row: MarkDeleted waits for it, and finds it', async () => {
    const slice = await newSlice(db.outside)
    const by = testContext(db.connect())
    const job = await openJob(by, opening(slice, 'a/1', null))
    await planDelete(by, guarded(slice, job))
    const stranger = db.connect()
    await stranger.begin()
    await loadRows(stranger, slice, linesOf(0, 1))
    const marking = markDeleted(by, guarded(slice, job))
    marking.catch(() => undefined)
    // It holds the job's row while it waits, so a second look at the row tells that it came so far.
    await expect.poll(() => isRowHeld(job.id), { timeout: 5_000 }).toBe(true)
    await stranger.commit()
    await expect(marking).rejects.toMatchObject({ name: 'SliceNotEmpty' })
  })
})

const isRowHeld = async (job: number): Promise<boolean> =>
  await db.outside.rows('select id from job where id = ? for share nowait', [job]).then(
    () => false,
    () => true,
  )
