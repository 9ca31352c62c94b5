import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { Invocation } from '../../../../functions/store/invocation/invocation.ts'
import { Database } from '../../../../functions/store/mysql/database.ts'
import { statement, transaction } from '../../../../functions/store/mysql/transaction.ts'
import { migrate } from '../../../../functions/store/schema/migrate.ts'
import { totalsOf } from '../../../../functions/store/share-ratio.ts'
import { loadRows } from '../../../support/rows.ts'
import { linesOf, newSlice, useTestDatabase } from '../../../support/test-database.ts'

const db = useTestDatabase('db')
const servers: Server[] = []
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) server.close()
})

/** A TCP relay to MySQL; `onClient` sees each packet of the client and may cut the connection. */
const relay = async (
  onClient: (packet: Buffer, cut: () => void) => 'pass' | 'swallow' | 'pass then cut',
): Promise<number> => {
  const server = createServer((client) => {
    const upstream = dial(db.address.DATABASE_PORT, db.address.DATABASE_HOST)
    sockets.push(client, upstream)
    const cut = () => {
      client.destroy()
      setTimeout(() => upstream.destroy(), 200)
    }
    client.on('error', () => undefined)
    upstream.on('error', () => undefined)
    let deaf = false
    client.on('data', (packet) => {
      const verdict = onClient(packet, cut)
      if (verdict === 'swallow') return
      upstream.write(packet)
      if (verdict === 'pass then cut') {
        deaf = true
        cut()
      }
    })
    upstream.on('data', (packet) => {
      if (!deaf && !client.destroyed) client.write(packet)
    })
  })
  servers.push(server)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return (server.address() as { port: number }).port
}

const through = (port: number, leftMs?: number) =>
  new Database({ ...db.address, DATABASE_HOST: '127.0.0.1', DATABASE_PORT: port }, new Invocation(leftMs))

describe('a lost COMMIT reply', () => {
  test('is answered by what the first commit left: rows are there once', async () => {
    const slice = await newSlice(db.outside)
    let cuts = 0
    const port = await relay((packet) => {
      if (cuts > 0 || !/\bcommit$/.test(packet.toString('latin1'))) return 'pass'
      cuts += 1
      return 'pass then cut'
    })
    const database = through(port)
    let runs = 0
    await transaction(database, async () => {
      runs += 1
      if ((await totalsOf(database, { ...slice, slot: 0 })).rows > 0) return
      await loadRows(database, slice, linesOf(0, 2))
    })
    await database.close()
    expect(cuts).toBe(1)
    expect(runs).toBe(2)
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(8)
  })
})

describe('a server that stops answering', () => {
  test('is given up at the deadline, and the statement is killed on the server', async () => {
    const database = db.connect(1_500)
    await expect(statement(database, () => database.rows('select sleep(30)'))).rejects.toMatchObject({
      name: 'OutOfTime',
    })
    const running = () =>
      db.outside.rows(`select id from information_schema.processlist where info like 'select sleep(30)%'`)
    await expect.poll(running, { timeout: 5_000 }).toEqual([])
  })

  test('in mid-statement leaves no transaction open', async () => {
    const slice = await newSlice(db.outside)
    const database = db.connect(5_000)
    const late = transaction(database, async () => {
      await loadRows(database, slice, linesOf(0, 2))
      await database.rows('select sleep(30)')
    })
    await expect(late).rejects.toMatchObject({ name: 'OutOfTime' })
    await loadRows(db.outside, slice, linesOf(0, 2))
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(8)
  })
})

describe('reconnecting', () => {
  test('a connection killed while idle is replaced at the next statement', async () => {
    const database = db.connect()
    const [me] = await database.rows<{ id: number }>('select connection_id() as id')
    await db.outside.change('kill ?', [me?.id ?? 0])
    expect(await statement(database, () => database.rows('select 1 as one'))).toEqual([{ one: 1 }])
  })

  test('a server that is read only is tried again on a new connection, whole transaction', async () => {
    const slice = await newSlice(db.outside)
    const database = db.connect()
    let tries = 0
    await transaction(database, async () => {
      tries += 1
      await loadRows(database, slice, linesOf(0, 2))
      if (tries === 1) throw Object.assign(new Error('--read-only'), { errno: 1290 })
    })
    expect(tries).toBe(2)
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(8)
  })

  test('a server that cannot be reached is named, with what to do', async () => {
    const database = through(1, 3_000)
    const failed = statement(database, () => database.rows('select 1'))
    await expect(failed).rejects.toMatchObject({ name: 'DatabaseUnreachable' })
  })
})

describe('security and setting', () => {
  test('a server whose certificate no known authority signed is refused', async () => {
    const database = new Database({ ...db.address, DATABASE_TLS: 'verify' })
    await expect(database.rows('select 1')).rejects.toThrow(/certificate|altname|self.signed/i)
  })

  test('a switched-off local_infile is a named misconfiguration, not a retry', async () => {
    const slice = await newSlice(db.outside)
    const database = db.connect()
    const refused = transaction(database, async () => {
      await loadRows(database, slice, linesOf(0, 1))
      throw Object.assign(new Error('Loading local data is disabled'), { errno: 3948 })
    })
    await expect(refused).rejects.toMatchObject({ name: 'DatabaseMisconfigured' })
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(0)
  })

  test('a value that does not fit is an error and never an adjusted value', async () => {
    const slice = await newSlice(db.outside)
    const insert = (share: string, party: string) =>
      db.outside.change('insert into share_ratio values (?, ?, 0, ?, ?, ?, ?)', [
        slice.distributorId,
        '2026-10-01',
        'KRA000000001',
        'PERFORMANCE',
        party,
        share,
      ])
    await expect(insert('100.000001', 'P')).rejects.toThrow()
    await expect(insert('0', 'P')).rejects.toThrow()
    await expect(insert('25', 'P'.repeat(21))).rejects.toThrow()
    await insert('25', '9007199254740993')
    const [row] = await db.outside.rows(`select party_id from share_ratio where distributor_id = ? and isrc > ''`, [
      slice.distributorId,
    ])
    expect(row).toEqual({ party_id: '9007199254740993' })
  })
})

describe('loading', () => {
  test('a duplicate or an overlong value shows in the counts, for LOAD DATA LOCAL raises no error', async () => {
    const slice = await newSlice(db.outside)
    const twice = Buffer.concat([linesOf(0, 1), linesOf(0, 1)])
    expect(await loadRows(db.outside, slice, twice)).toEqual({ rows: 4, warnings: 4 })
    const overlong = Buffer.from(`KRA000000009\tPERFORMANCE\t${'P'.repeat(25)}\t25.000000\n`)
    expect((await loadRows(db.outside, slice, overlong)).warnings).toBeGreaterThan(0)
  })
})

describe('migrating', () => {
  test('again changes nothing', async () => {
    expect((await migrate(db.address)).applied).toEqual([])
  })

  test('a newer schema is left alone', async () => {
    await db.outside.change(`insert into schema_migration (name) values ('999-later.sql')`)
    expect(await migrate(db.address)).toMatchObject({ applied: [], newer: true, current: '999-later.sql' })
    await db.outside.change(`delete from schema_migration where name = '999-later.sql'`)
  })

  test('two migrators at once apply each migration once', async () => {
    const address = { ...db.address, DATABASE_NAME: `${db.address.DATABASE_NAME}_b` }
    const reports = await Promise.all([migrate(address), migrate(address)])
    expect(reports.map((report) => report.applied.length).toSorted((a, b) => a - b)).toEqual([0, expect.any(Number)])
    await db.outside.change(`drop database \`${address.DATABASE_NAME}\``)
  })
})
