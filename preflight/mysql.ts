import type { RowDataPacket } from 'mysql2/promise'
import { lacksOf } from '../functions/contract/database-needs.ts'
import { messageOf } from '../functions/contract/failures.ts'
import { connect, type DatabaseAddress, openSession } from '../functions/store/mysql/connection.ts'
import { requireSameServer } from '../functions/store/mysql/side-connection.ts'
import type { Reader } from '../functions/store/mysql/tx.ts'
import { factsOf } from '../functions/store/schema/health.ts'
import { type Findings, lackOf, noFindings } from './lacks.ts'
import { type ServerFacts, type ServerNeeds, serverLacksOf } from './mysql-needs.ts'

/** Global variables by name: one that a release does not have is simply absent. */
const VARIABLES = `select variable_name as name, variable_value as value from performance_schema.global_variables
  where variable_name in ('version_comment', 'innodb_flush_log_at_trx_commit', 'sync_binlog', 'log_bin',
    'innodb_deadlock_detect', 'innodb_rollback_on_timeout', 'init_connect', 'max_connections', 'max_user_connections')`

/** What the migrator does, and grants to the functions' user. */
const PRIVILEGES = ['CREATE', 'CREATE USER', 'CREATE VIEW', 'CREATE ROUTINE', 'SELECT', 'INSERT', 'UPDATE', 'DELETE']

const ON = /^(on|1|yes)$/i

const serverFacts = async (reader: Reader): Promise<ServerFacts> => {
  const known = new Map(
    (await reader.rows<{ name: string; value: string }>(VARIABLES)).map(({ name, value }) => [name, value]),
  )
  const number = (name: string, absent: number) => Number(known.get(name) ?? absent)
  const [plugin] = await reader.rows(
    `select 1 from information_schema.plugins where plugin_name = 'AWSAuthenticationPlugin' and plugin_status = 'ACTIVE'`,
  )
  const [cipher] = await reader.rows<{ value: string }>(
    `select variable_value as value from performance_schema.session_status where variable_name = 'Ssl_cipher'`,
  )
  const granted = await reader.rows<{ privilege: string }>(
    `select privilege_type as privilege from information_schema.user_privileges
     where is_grantable = 'YES' and grantee = concat('''', replace(current_user(), '@', '''@'''), '''')`,
  )
  // What a role has is listed for the role, where this user may not look: RDS gives its master one.
  const [role] = await reader.rows('select 1 from information_schema.enabled_roles limit 1')
  const missing = PRIVILEGES.filter((name) => !granted.some(({ privilege }) => privilege === name))
  return {
    ...(await factsOf(reader)),
    comment: known.get('version_comment') ?? '',
    flushAtCommit: number('innodb_flush_log_at_trx_commit', 1),
    syncBinlog: ON.test(known.get('log_bin') ?? '') ? number('sync_binlog', 1) : null,
    detectsDeadlocks: ON.test(known.get('innodb_deadlock_detect') ?? 'on'),
    rollsBackOnTimeout: ON.test(known.get('innodb_rollback_on_timeout') ?? 'off'),
    initConnect: known.get('init_connect') ?? '',
    maxConnections: number('max_connections', 0),
    maxUserConnections: number('max_user_connections', 0),
    hasIamPlugin: plugin !== undefined,
    isEncrypted: (cipher?.value ?? '') !== '',
    privilegesMissing: role === undefined ? missing : [],
  }
}

/** What keeps a session of ours from being known: performance_schema, its settings, or a proxy in between. */
const sessionLack = async (address: DatabaseAddress): Promise<unknown> => {
  try {
    const { connection, session } = await openSession(address, { isOutside: true })
    connection.destroy()
    await requireSameServer({ ...address, DATABASE_NAME: 'information_schema' }, session)
    return undefined
  } catch (error) {
    return error
  }
}

/** Looks at a MySQL server as the migrator will meet it, and changes nothing. */
export const lookAtMysql = async (address: DatabaseAddress, needs: ServerNeeds): Promise<Findings> => {
  const findings = noFindings()
  const where = `MySQL at ${address.DATABASE_HOST}:${address.DATABASE_PORT}`
  const connection = await connect(address, { isOutside: true }).catch((error: unknown) => {
    findings.lacks.push({
      check: 'mysql-reached',
      what: `${where} does not let us in: ${messageOf(error)}.`,
      remedy:
        'Run this inside the VPC (AWS CloudShell has such an environment), and check the port, the security group and the login.',
    })
  })
  if (connection === undefined) return findings
  const reader: Reader = {
    rows: async <Row>(sql: string, values: unknown[] = []) => {
      const [rows] = await connection.query<RowDataPacket[]>(sql, values)
      return rows as unknown as Row[]
    },
  }
  try {
    const facts = await serverFacts(reader)
    const hidden = await sessionLack(address)
    if (hidden !== undefined) findings.lacks.push(lackOf('sessions', hidden))
    findings.lacks.push(...serverLacksOf(facts, needs), ...lacksOf(facts))
    if (findings.lacks.length === 0)
      findings.fine.push(`${where}: ${facts.version}, settings, login, sessions and privileges are as a run needs them`)
  } finally {
    connection.destroy()
  }
  return findings
}
