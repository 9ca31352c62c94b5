import { type DataOf, Failure, isFailure, messageOf } from '../../contract/failures.ts'
import { fitting } from '../../contract/fitting.ts'
import type { Blocker } from './blockers.ts'
import { type ErrorRule, PASSES, ruleOfCode, ruleOfErrno, type Verdict } from './error-rules.ts'

/** What mysql2 adds to an error. After an idle close `code` is undefined and only `fatal` tells. */
type DriverError = Error & { errno?: number; code?: string; fatal?: boolean; sql?: string }

/** An error of MySQL or of the way to it, under its name in the table of failures. */
export class DatabaseFailure extends Failure {
  readonly verdict: Verdict
  /** MySQL's number of the error; undefined where the reply never came. */
  readonly errno: number | undefined
  override readonly data: DataOf<'DatabaseBlocked'>
  readonly #rule: ErrorRule
  readonly #said: string

  constructor(
    rule: ErrorRule,
    said: string,
    errno: number | undefined,
    cause: unknown,
    data?: DataOf<'DatabaseBlocked'>,
    tries = 1,
  ) {
    super(rule.name, sentence(rule, said, errno, tries), { cause, data })
    this.verdict = rule.verdict
    this.errno = errno
    this.#rule = rule
    this.#said = said
    this.data = data
  }

  /** The server's words, or who is in the way. */
  get said(): string {
    return this.#said
  }

  /** The same after so many tries. */
  after(tries: number): DatabaseFailure {
    return tries === 1 ? this : new DatabaseFailure(this.#rule, this.#said, this.errno, this.cause, this.data, tries)
  }
}

const OPENINGS: Readonly<Record<string, string>> = {
  DatabaseUnreachable: 'MySQL did not complete the work',
  DatabaseBlocked: 'A statement waited for a lock in vain',
  DatabaseFull: 'MySQL has no room left',
  DatabaseReadOnly: 'MySQL takes no writes',
  DatabaseLoginRefused: 'MySQL refuses the login',
  DatabaseMisconfigured: 'MySQL refuses what Sharelock needs',
  ConstraintRefused: 'A foreign key, trigger or check refuses the change',
  DatabaseRefused: 'MySQL refused a statement',
}

const sentence = ({ name, advice }: ErrorRule, said: string, errno: number | undefined, tries: number): string => {
  const number = errno === undefined ? '' : ` (error ${errno})`
  const after = tries === 1 ? '' : ` after ${tries} tries`
  return `${OPENINGS[name] ?? name}${after}: ${said}${number}. ${advice}`
}

/** Characters of a server's message, and of a statement's pattern, that are passed on. */
const SAID_CHARS_MAX = 300
const STATEMENT_CHARS_MAX = 200

/** The server's words, without the piece of the statement that a syntax error repeats, which may hold values. */
const wordsOf = (error: DriverError): string => {
  const text = messageOf(error).replace(/ near '[\s\S]*$/, '')
  return fitting(text === '' ? 'connection lost' : text, SAID_CHARS_MAX).replace(/\.$/, '')
}

/** Statements carry tokens and other people's values: a log line or an answer must not. */
const withoutStatement = (error: DriverError): DriverError => {
  delete error.sql
  return error
}

/** The server's own numbers are positive; those of the system are negative. */
const serverErrno = ({ errno }: DriverError): number | undefined =>
  errno !== undefined && errno > 0 ? errno : undefined

/** Of the network, or of the driver about the way to the server. */
const IS_OF_THE_WAY = /^(E[A-Z]+|(PROTOCOL|HANDSHAKE|AUTH)_[A-Z_]+)$/

const ruleOf = (error: DriverError): ErrorRule | undefined => {
  const { code = '', fatal, message } = error
  const errno = serverErrno(error)
  if (errno !== undefined) return ruleOfErrno(errno, message)
  return fatal === true || IS_OF_THE_WAY.test(code) ? ruleOfCode(code, message) : undefined
}

/** True where a statement may have ended because somebody else keeps a lock. */
export const isWait = (error: unknown): boolean =>
  isFailure(error, 'OutOfTime') ||
  (error instanceof Error && (error.name === 'StatementTimeout' || ruleOf(error)?.name === 'DatabaseBlocked'))

/**
 * Gives an error of the driver its name. Failures and errors that are none of the database's pass as they are.
 *
 * @param blockers who kept the statement waiting, where it was a wait and that is known
 */
export const databaseFailure = (thrown: unknown, [blocker]: readonly Blocker[] = []): unknown => {
  if (!(thrown instanceof Error)) return thrown
  if (blocker !== undefined)
    return new DatabaseFailure(blockedBy(blocker), nameOf(blocker), serverErrno(thrown), withoutStatement(thrown), {
      session: blocker.id,
      user: blocker.user,
      host: blocker.host,
    })
  const rule = isFailure(thrown) ? undefined : ruleOf(thrown)
  if (rule === undefined) return thrown
  const error = withoutStatement(thrown)
  return new DatabaseFailure(rule, wordsOf(error), serverErrno(error), error)
}

/** Waits for an answer of the driver, whose errors get their names. */
export const named = async <T>(answer: Promise<T>): Promise<T> => {
  try {
    return await answer
  } catch (error) {
    throw databaseFailure(error)
  }
}

const nameOf = ({ id, user, host, command, seconds, statement }: Blocker): string =>
  `session ${id} of ${user}@${host} holds it (${command === 'Sleep' ? 'idle' : command} for ${seconds} s, last statement: ${statement === null ? 'unknown' : fitting(statement, STATEMENT_CHARS_MAX)})`

const blockedBy = ({ id }: Blocker): ErrorRule => ({
  name: 'DatabaseBlocked',
  verdict: 'rerun',
  advice: `Sharelock ends nobody else's session: have its transaction committed, or end it yourself (kill ${id}; on RDS: call mysql.rds_kill(${id})). ${PASSES}`,
})
