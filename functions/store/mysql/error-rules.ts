import type { FailureName } from '../../contract/failure-table.ts'

/** What a transaction does about an error: run again, run again on a new connection, or give up at once. */
export type Verdict = 'rerun' | 'reconnect' | 'give up'

/**
 * What an error means to us, and the one thing to do about it.
 * See decisions.md, "A refused login, a full disk and a lock are waited for".
 */
export type ErrorRule = { readonly name: FailureName; readonly verdict: Verdict; readonly advice: string }

/** Of what may pass by itself: a run's task is retried, an operator's command is not. */
export const PASSES = 'Nothing was half done: a run tries it again by itself, a command has to be typed again.'

const UNREACHABLE: ErrorRule = { name: 'DatabaseUnreachable', verdict: 'reconnect', advice: PASSES }

/** What no rule names. */
const REFUSED: ErrorRule = {
  name: 'DatabaseRefused',
  verdict: 'give up',
  advice: 'The transaction was rolled back. Find out what the error means for this database.',
}

const misconfigured = (advice: string): ErrorRule => ({ name: 'DatabaseMisconfigured', verdict: 'give up', advice })

const FULL: ErrorRule = {
  name: 'DatabaseFull',
  verdict: 'give up',
  advice: `Give it storage (on RDS it may be growing by itself) or free some. ${PASSES}`,
}

const READ_ONLY: ErrorRule = {
  name: 'DatabaseReadOnly',
  verdict: 'reconnect',
  advice: `While a failover goes on this passes. Otherwise connect to the primary, or: set global read_only = 0. ${PASSES}`,
}

const LOGIN_REFUSED: ErrorRule = {
  name: 'DatabaseLoginRefused',
  verdict: 'reconnect',
  advice: `Check that the functions' user exists, is not locked or expired, and (with IAM) that the role may rds-db:connect as it. ${PASSES}`,
}

const CONSTRAINT: ErrorRule = {
  name: 'ConstraintRefused',
  verdict: 'give up',
  advice:
    'Sharelock has no such rule on the rows of a month, and never deletes past one: `sharelock doctor` lists the foreign keys and triggers that others set on share_ratio. Remove it or its rows.',
}

const BLOCKED: ErrorRule = { name: 'DatabaseBlocked', verdict: 'rerun', advice: PASSES }

/** Each error of MySQL that we know, by its number. */
const RULES: readonly (readonly [ErrorRule, readonly number[]])[] = [
  // A deadlock; a commit that its group refused; a table that was altered since the transaction began.
  [{ ...UNREACHABLE, verdict: 'rerun' }, [1180, 1213, 1412, 3101]],
  [BLOCKED, [1205]],
  // Too many connections, threads or transactions; no memory; shutting down; offline; killed; idle for too long; network.
  [UNREACHABLE, [1037, 1038, 1040, 1041, 1053, 1077, 1079, 1129, 1135, 1158, 1159, 1160, 1161, 1203, 1226]],
  [UNREACHABLE, [1317, 1637, 3032, 4031]],
  [READ_ONLY, [1290, 1836]],
  [LOGIN_REFUSED, [1045, 1698, 1820, 1862, 3118, 3955]],
  // 3: a file of the server, where the disk is full.
  [FULL, [3, 1021, 1026, 1114, 1598, 3675]],
  [CONSTRAINT, [1451, 1452, 1644, 3819]],
  [
    misconfigured("Run the migrations, which also bring the user's privileges up to date."),
    [1044, 1049, 1054, 1142, 1143, 1146, 1227, 1305, 1356, 1370, 1449],
  ],
  [misconfigured('Set local_infile=1 in its parameter group, or: set global local_infile = 1.'), [1148, 3948]],
  [misconfigured('Set max_allowed_packet to 64M in its parameter group.'), [1153, 1301, 3068]],
  [misconfigured('Run a MySQL that this release supports: 8.4 or later.'), [1193, 1231, 1273]],
  [misconfigured('Set binlog_format=ROW in its parameter group.'), [1665, 1844]],
  [misconfigured('Its init_connect fails for our user: correct or remove it.'), [1184]],
  [misconfigured('Let the address of the functions in, with TLS where the server asks for it.'), [1130, 3159]],
  [misconfigured("Give the functions' user a way to log in that this server knows."), [1251, 1524]],
  [
    misconfigured(
      'A statement was cut off by max_execution_time, which each of our sessions sets to 0: see what resets it.',
    ),
    [3024],
  ],
  [misconfigured('Its limits on memory are too small for a chunk: raise them to their defaults.'), [1206, 3170, 3186]],
]

const BY_NUMBER: ReadonlyMap<number, ErrorRule> = new Map(
  RULES.flatMap(([rule, numbers]) => numbers.map((number) => [number, rule] as const)),
)

/** 28: no space left on the device. The server passes it on as a number within its message. */
const ENGINE_ERROR = 1030
const NO_SPACE = /\b28\b/

/** @param errno of a reply of the server @param text its message */
export const ruleOfErrno = (errno: number, text: string): ErrorRule =>
  errno === ENGINE_ERROR && NO_SPACE.test(text) ? FULL : (BY_NUMBER.get(errno) ?? REFUSED)

/** What the driver itself says, for a reply that never came or made no sense to it. */
export const ruleOfCode = (code: string, text: string): ErrorRule => {
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') return misconfigured('Switch TLS on at the server.')
  if (code === 'HANDSHAKE_SSL_ERROR' && /certificate|altname|self.signed/i.test(text))
    return misconfigured("Connect by the instance's own name, under the certificate that its authority signed.")
  return code === 'AUTH_SWITCH_PLUGIN_ERROR' ? LOGIN_REFUSED : UNREACHABLE
}
