import type { Connection } from 'mysql2/promise'

/** How a user proves who it is: RDS verifies IAM passwords through a plugin that no other server has. */
export type LoginUser = { readonly name: string } & (
  | { readonly auth: 'iam' }
  | { readonly auth: 'password'; readonly password: string }
)

/** Creates a user without any privilege, or brings its password up to date. */
export const createLogin = async (connection: Connection, user: LoginUser): Promise<void> => {
  if (user.auth === 'iam') {
    await connection.query(
      `create user if not exists ?@'%' identified with AWSAuthenticationPlugin as 'RDS' require ssl`,
      [user.name],
    )
  } else {
    await connection.query(`create user if not exists ?@'%' identified by ?`, [user.name, user.password])
    await connection.query(`alter user ?@'%' identified by ?`, [user.name, user.password])
  }
}
