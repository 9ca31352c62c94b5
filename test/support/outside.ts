import { type Connection, createConnection } from 'mysql2/promise'
import type { Stack } from '../../local/stack.ts'

/** A connection of the test's own, as the master. */
export const connectOutside = async ({ database }: Stack): Promise<Connection> => {
  const { host, port, name, master } = database
  const connection = await createConnection({ host, port, database: name, ...master, dateStrings: true })
  connection.on('error', () => undefined)
  return connection
}
