import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { FailureName } from '../../../../functions/contract/failure-table.ts'
import { Database } from '../../../../functions/store/mysql/database.ts'
import { ruleOfCode, ruleOfErrno, type Verdict } from '../../../../functions/store/mysql/error-rules.ts'

/* What each error of MySQL means to us, by the names that the server itself has for its numbers. */

const { host, port, user, password } = inject('mysql')
const database = new Database({
  ...{ DATABASE_HOST: host, DATABASE_PORT: port, DATABASE_USER: user, DATABASE_PASSWORD: password },
  ...{ DATABASE_NAME: 'performance_schema', DATABASE_AUTH: 'password', DATABASE_TLS: 'off' },
  AWS_REGION: 'ap-northeast-2',
})
/** What this list of the server leaves out: what is only logged, or sent by its lowest part, or older than 8.4. */
const UNLISTED = [
  ['EE_WRITE', 3],
  ['ER_DISK_FULL', 1021],
  ['ER_NORMAL_SHUTDOWN', 1077],
] as const
let numbers: ReadonlyMap<string, number>
beforeAll(async () => {
  const rows = await database.rows<{ number: number; name: string }>(
    'select error_number as number, error_name as name from events_errors_summary_global_by_error',
  )
  numbers = new Map([...UNLISTED, ...rows.map(({ number, name }) => [name, number] as const)])
})
afterAll(async () => await database.close())

const RULES: readonly (readonly [FailureName, Verdict, advice: RegExp, names: string])[] = [
  [
    'DatabaseUnreachable',
    'rerun',
    /tries it again/,
    'ER_ERROR_DURING_COMMIT ER_LOCK_DEADLOCK ER_TABLE_DEF_CHANGED ER_TRANSACTION_ROLLBACK_DURING_COMMIT',
  ],
  [
    'DatabaseUnreachable',
    'reconnect',
    /tries it again/,
    'ER_OUTOFMEMORY ER_OUT_OF_SORTMEMORY ER_CON_COUNT_ERROR ER_OUT_OF_RESOURCES ER_SERVER_SHUTDOWN ER_NORMAL_SHUTDOWN ER_SHUTDOWN_COMPLETE ER_HOST_IS_BLOCKED ER_CANT_CREATE_THREAD ER_NET_READ_ERROR ER_NET_READ_INTERRUPTED ER_NET_ERROR_ON_WRITE ER_NET_WRITE_INTERRUPTED ER_TOO_MANY_USER_CONNECTIONS ER_USER_LIMIT_REACHED ER_QUERY_INTERRUPTED ER_TOO_MANY_CONCURRENT_TRXS ER_SERVER_OFFLINE_MODE ER_CLIENT_INTERACTION_TIMEOUT',
  ],
  ['DatabaseBlocked', 'rerun', /tries it again/, 'ER_LOCK_WAIT_TIMEOUT'],
  ['DatabaseReadOnly', 'reconnect', /read_only = 0/, 'ER_OPTION_PREVENTS_STATEMENT ER_READ_ONLY_MODE'],
  [
    'DatabaseLoginRefused',
    'reconnect',
    /not locked or expired/,
    'ER_ACCESS_DENIED_ERROR ER_ACCESS_DENIED_NO_PASSWORD_ERROR ER_MUST_CHANGE_PASSWORD ER_MUST_CHANGE_PASSWORD_LOGIN ER_ACCOUNT_HAS_BEEN_LOCKED ER_USER_ACCESS_DENIED_FOR_USER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK',
  ],
  [
    'DatabaseFull',
    'give up',
    /storage/,
    'EE_WRITE ER_DISK_FULL ER_ERROR_ON_WRITE ER_RECORD_FILE_FULL ER_BINLOG_LOGGING_IMPOSSIBLE ER_DISK_FULL_NOWAIT',
  ],
  [
    'ConstraintRefused',
    'give up',
    /foreign keys and triggers/,
    'ER_ROW_IS_REFERENCED_2 ER_NO_REFERENCED_ROW_2 ER_SIGNAL_EXCEPTION ER_CHECK_CONSTRAINT_VIOLATED',
  ],
  [
    'DatabaseMisconfigured',
    'give up',
    /migrations/,
    'ER_DBACCESS_DENIED_ERROR ER_BAD_DB_ERROR ER_BAD_FIELD_ERROR ER_TABLEACCESS_DENIED_ERROR ER_COLUMNACCESS_DENIED_ERROR ER_NO_SUCH_TABLE ER_SPECIFIC_ACCESS_DENIED_ERROR ER_SP_DOES_NOT_EXIST ER_VIEW_INVALID ER_PROCACCESS_DENIED_ERROR ER_NO_SUCH_USER',
  ],
  ['DatabaseMisconfigured', 'give up', /local_infile/, 'ER_NOT_ALLOWED_COMMAND ER_CLIENT_LOCAL_FILES_DISABLED'],
  [
    'DatabaseMisconfigured',
    'give up',
    /max_allowed_packet/,
    'ER_NET_PACKET_TOO_LARGE ER_WARN_ALLOWED_PACKET_OVERFLOWED ER_NET_OK_PACKET_TOO_LARGE',
  ],
  [
    'DatabaseMisconfigured',
    'give up',
    /8\.4 or later/,
    'ER_UNKNOWN_SYSTEM_VARIABLE ER_WRONG_VALUE_FOR_VAR ER_UNKNOWN_COLLATION',
  ],
  [
    'DatabaseMisconfigured',
    'give up',
    /binlog_format=ROW/,
    'ER_BINLOG_STMT_MODE_AND_ROW_ENGINE ER_BINLOG_STMT_MODE_AND_NO_REPL_TABLES',
  ],
  ['DatabaseMisconfigured', 'give up', /init_connect/, 'ER_NEW_ABORTING_CONNECTION'],
  ['DatabaseMisconfigured', 'give up', /with TLS/, 'ER_HOST_NOT_PRIVILEGED ER_SECURE_TRANSPORT_REQUIRED'],
  ['DatabaseMisconfigured', 'give up', /way to log in/, 'ER_NOT_SUPPORTED_AUTH_MODE ER_PLUGIN_IS_NOT_LOADED'],
  ['DatabaseMisconfigured', 'give up', /max_execution_time/, 'ER_QUERY_TIMEOUT'],
  [
    'DatabaseMisconfigured',
    'give up',
    /limits on memory/,
    'ER_LOCK_TABLE_FULL ER_CAPACITY_EXCEEDED ER_CAPACITY_EXCEEDED_IN_PARSER',
  ],
  ['DatabaseRefused', 'give up', /Find out what/, 'ER_DATA_TOO_LONG ER_PARSE_ERROR ER_DUP_ENTRY'],
]

test.each(RULES)('%s, then %s, with the advice %s, is what the server calls %s', (name, verdict, advice, names) => {
  for (const each of names.split(' ')) {
    const number = numbers.get(each)
    expect(number, each).toBeDefined()
    expect(ruleOfErrno(number ?? 0, 'as the server says it'), each).toMatchObject({ name, verdict, advice })
  }
})

test('an error of the engine means a full disk only where it has the number of one', () => {
  const engine = numbers.get('ER_GET_ERRNO') ?? 0
  const told = (errno: number, text: string) => ruleOfErrno(errno, text).name
  expect(told(engine, 'Got error 28 - No space left on device from storage engine')).toBe('DatabaseFull')
  expect(told(engine, 'Got error 128 from storage engine')).toBe('DatabaseRefused')
  expect(told(engine, 'Got error 168 from storage engine')).toBe('DatabaseRefused')
  expect(told(numbers.get('ER_PARSE_ERROR') ?? 0, 'near 28')).toBe('DatabaseRefused')
})

test('what the driver says of the way to the server is an outage, or names what is set up wrong', () => {
  for (const [code, text, name, advice] of [
    ['HANDSHAKE_NO_SSL_SUPPORT', '', 'DatabaseMisconfigured', /Switch TLS on/],
    ['HANDSHAKE_SSL_ERROR', 'self-signed certificate', 'DatabaseMisconfigured', /own name/],
    ['HANDSHAKE_SSL_ERROR', "Hostname/IP does not match certificate's altnames", 'DatabaseMisconfigured', /own name/],
    ['HANDSHAKE_SSL_ERROR', 'socket hang up', 'DatabaseUnreachable', /tries it again/],
    ['ECONNRESET', 'certificate', 'DatabaseUnreachable', /tries it again/],
    ['AUTH_SWITCH_PLUGIN_ERROR', '', 'DatabaseLoginRefused', /not locked or expired/],
  ] as const)
    expect(ruleOfCode(code, text), `${code} ${text}`).toMatchObject({ name, advice })
})
