import { Failure } from '../contract/failures.ts'

/** Characters of one message in a log or an answer; what is longer repeats a statement, a file, or a server's page. */
const MESSAGE_CHARS_MAX = 2_000

/** Causes of causes that are told. */
const CAUSES_MAX = 5

/** What must not be shown to readers of logs or histories, by its shape, and what is left of it. */
const SECRETS: readonly (readonly [shape: RegExp, left: string])[] = [
  // Presigned logins, of MySQL and Valkey both.
  [/(X-Amz-(?:Signature|Security-Token|Credential)=)[^&\s"'\\]+/gi, '$1***'],
  // A lock's token keeps its holder's name, which may end in any character.
  [/(\/)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '$1***'],
  [/(identified\s+(?:with\s+\S+\s+)?by\s+)'[^']*'/gi, '$1***'],
  [/("?(?:password|secretaccesskey|sessiontoken)"?\s*[:=]\s*)(?:"[^"]*"|'[^']*'|[^\s,;}"']+)/gi, '$1***'],
]

/** The text without known shapes of secrets, and cut. */
export const redacted = (text: string): string => {
  let left = text
  for (const [shape, replacement] of SECRETS) left = left.replace(shape, replacement)
  return left.length > MESSAGE_CHARS_MAX ? `${left.slice(0, MESSAGE_CHARS_MAX)}…` : left
}

/** Own properties of errors that say what went wrong, and never with what: numbers, codes, and names of calls. */
const TOLD = ['code', 'errno', 'sqlState', 'syscall', 'family', 'job', 'fence', 'state', 'verdict', '$fault'] as const

type Told = Record<string, unknown>

const isPlain = (value: unknown): value is string | number | boolean => /^(string|number|boolean)$/.test(typeof value)

/** What a failure carries by its type, which has plain values only. */
const dataOf = (data: object): Told =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, typeof value === 'string' ? redacted(value) : value]),
  )

/** AWS's number of a request, by which its support finds it. */
const requestOf = (error: Error): Told => {
  const { $metadata } = error as Error & { $metadata?: { httpStatusCode?: number; requestId?: string } }
  return $metadata === undefined ? {} : { httpStatus: $metadata.httpStatusCode, requestId: $metadata.requestId }
}

/**
 * An error as a log may have it: an allow-list, since drivers hang what they were sent onto their errors (mysql2 the
 * statement with its values, ioredis the command with the lock's token or its own login), and others will.
 * See decisions.md, "Errors are logged by an allow-list".
 */
export const safeError = (error: Error, depth = 0): Told => {
  const { name, message, stack, cause } = error
  const told: Told = { name, message: redacted(message) }
  for (const key of TOLD) {
    const value = (error as Error & Told)[key]
    if (isPlain(value)) told[key] = typeof value === 'string' ? redacted(value) : value
  }
  if (error instanceof Failure && error.data !== undefined) told.data = dataOf(error.data)
  Object.assign(told, requestOf(error))
  if (stack !== undefined) told.stack = redacted(stack)
  if (cause instanceof Error) told.cause = depth < CAUSES_MAX ? safeError(cause, depth + 1) : redacted(cause.message)
  else if (isPlain(cause)) told.cause = redacted(String(cause))
  return told
}

/**
 * The error that a function ends with. Lambda writes every own property of it into the log by itself, so it has name,
 * message and stack and no other.
 */
export const safeThrow = (thrown: unknown): Error => {
  if (!(thrown instanceof Error)) return new Error(redacted(String(thrown)))
  const error = new Error(redacted(thrown.message))
  error.name = thrown.name
  if (thrown.stack !== undefined) error.stack = redacted(thrown.stack)
  return error
}

/** What the logger does to each value that it writes, Powertools' own formatter of errors included. */
export const safeLogValue = (_: string, value: unknown): unknown => {
  if (value instanceof Error) return safeError(value)
  return typeof value === 'string' ? redacted(value) : value
}
