import { randomBytes } from 'node:crypto'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { monthDate } from '../../../../functions/contract/words.ts'
import { privilegesOf } from '../../../../functions/store/schema/app-user.ts'
import { createReaderUser } from '../../../../functions/store/schema/reader-user.ts'
import { newSlice, useTestDatabase } from '../../../support/test-database.ts'

const db = useTestDatabase('reader')
const name = `reader_${randomBytes(4).toString('hex')}`
/** A settlement program, which uses nothing of ours. */
let reader: Connection

const read = async (sql: string, values: string[] = []): Promise<RowDataPacket[]> => {
  const [rows] = await reader.query<RowDataPacket[]>(sql, values)
  return rows
}

beforeAll(async () => {
  await createReaderUser(db.address, { name, auth: 'password', password: 'first' })
  await createReaderUser(db.address, { name, auth: 'password', password: 'second' })
  const { DATABASE_HOST: host, DATABASE_PORT: port, DATABASE_NAME: database } = db.address
  reader = await createConnection({ host, port, database, user: name, password: 'second' })
})
afterAll(async () => {
  await reader.end()
  await db.outside.change('drop user if exists ?', [name])
})

describe("the readers' user", () => {
  test('reads the views, and asks whether a slice is settled', async () => {
    const slice = await newSlice(db.outside)
    const month = monthDate(slice.month)
    for (const view of ['settled_share_ratio', 'slice_status'])
      expect(
        await read(`select * from ${view} where distributor = ? and settlement_month = ?`, [slice.distributor, month]),
      ).toEqual([])
    await expect(read('call require_settled_slice(?, ?)', [slice.distributor, slice.month])).rejects.toThrow(
      `${slice.distributor} ${slice.month} was never registered`,
    )
  })

  test.each([
    'select * from share_ratio',
    'select * from job',
    'select * from distributor',
    'select * from audit',
    'delete from settled_share_ratio',
    'update slice_status set job_id = 1',
    'call foreign_rules()',
    'create table x (a int)',
    'select * from mysql.user',
  ])('is refused: %s', async (sql) => {
    await expect(read(sql)).rejects.toThrow(/denied/)
  })

  test('has exactly the views of the schema and the procedure', async () => {
    const views = await db.outside.rows<{ name: string }>(
      'select table_name as name from information_schema.views where table_schema = database()',
    )
    const granted = (await privilegesOf(db.address, name)).flatMap((line) => {
      const match = /^GRANT (SELECT|EXECUTE) ON (?:PROCEDURE )?`\w+`\.`(\w+)`/.exec(line)
      return match === null ? (line.startsWith('GRANT USAGE ON *.*') ? [] : [line]) : [`${match[1]} ${match[2]}`]
    })
    expect(granted.toSorted()).toEqual(
      [...views.map((view) => `SELECT ${view.name}`), 'EXECUTE require_settled_slice'].toSorted(),
    )
  })
})
