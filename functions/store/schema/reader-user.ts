import type { RowDataPacket } from 'mysql2/promise'
import { connect, type DatabaseAddress } from '../mysql/connection.ts'
import { named } from '../mysql/failure.ts'
import { createLogin, type LoginUser } from './login-user.ts'

/** What readers call before they pay; the functions' own procedures are not for them. */
const READER_PROCEDURES = ['require_settled_slice'] as const

/**
 * Creates the user of settlement programs, or brings its privileges up to date: every view of the schema, for views are made
 * for readers alone, and the procedure. No table: a row that is not shown yet, or not any more, can't be read. Repeating it is
 * safe.
 *
 * @param master address of a user who may create users and grant, on a migrated database
 */
export const createReaderUser = async (master: DatabaseAddress, user: LoginUser): Promise<void> =>
  await named(grantReading(master, user))

const grantReading = async (master: DatabaseAddress, user: LoginUser): Promise<void> => {
  const { DATABASE_NAME: schema } = master
  const connection = await connect(master)
  try {
    await createLogin(connection, user)
    const [views] = await connection.query<RowDataPacket[]>(
      'select table_name as name from information_schema.views where table_schema = ? order by table_name',
      [schema],
    )
    for (const { name } of views)
      await connection.query(`grant select on ?? to ?@'%'`, [`${schema}.${name}`, user.name])
    for (const name of READER_PROCEDURES)
      await connection.query(`grant execute on procedure ?? to ?@'%'`, [`${schema}.${name}`, user.name])
  } finally {
    connection.destroy()
  }
}
