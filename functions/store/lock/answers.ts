import type { FailureName } from '../../contract/failure-table.ts'
import { Failure, messageOf } from '../../contract/failures.ts'

/** One kind of answer: what it begins with, the failure it is, and a sentence that ends with the one thing to do. */
type Kind = readonly [pattern: RegExp, name: FailureName, sentence: string]

/**
 * Answers that the same server, or the one after a failover, does not give a moment later: it starts, it is a replica,
 * its slots move, a script of somebody else keeps it busy. To a lock this is silence.
 */
const PASSING = /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|READONLY|NOREPLICAS|BUSY)\b/

/** The first that fits. What fits none was answered all the same, and no waiting changes it. */
const REFUSALS: readonly Kind[] = [
  [
    /^(NOAUTH|WRONGPASS)\b/,
    'LockRefused',
    'It refuses our login, with a new token too: check that the user of LOCK_USER exists, is in the user group, and may be used by this role (elasticache:Connect).',
  ],
  [
    /^OOM\b/,
    'LockRefused',
    'Its memory is full: find what fills it (locks take a few hundred bytes each), or take larger nodes.',
  ],
  [
    /^ERR max number of clients/,
    'LockRefused',
    'It takes no more connections: find the program that holds them, or raise maxclients.',
  ],
  [/^MISCONF\b/, 'LockRefused', 'It cannot save its data and takes no writes: see to its disk.'],
  [
    /^(MOVED|ASK|CROSSSLOT)\b/,
    'LockMisconfigured',
    'It runs in cluster mode, and the key belongs to another node: take a replication group with cluster mode disabled.',
  ],
  [
    /^NOPERM\b|ACL failure/,
    'LockMisconfigured',
    "The user may not do what a lock needs: give it the access string of this stage's locks (`npm run preflight` prints it).",
  ],
  [
    /^WRONGTYPE\b/,
    'LockMisconfigured',
    'Another program keeps something else under this key: stop that program, then delete the key.',
  ],
  [
    /^ERR unknown command|shebang|script flag/i,
    'LockMisconfigured',
    'It does not know what the lock needs: take Valkey 7.2 or later.',
  ],
  [/^/, 'LockMisconfigured', 'Look at how it is set up; `sharelock doctor` asks it again.'],
]

/** An error that the server itself answered with; everything else is silence or a lost connection. */
export const isAnswer = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError'

/** Whether the server asks for a login, or for a newer one than ours. */
export const isLoginRefused = (error: unknown): boolean =>
  isAnswer(error) && /^(NOAUTH|WRONGPASS)\b/.test(error.message)

/** An answer may quote the whole command, and with it the token. */
const withoutArguments = (message: string): string =>
  message.replace(/,? with args beginning with:.*/s, '').slice(0, 200)

/** The client hangs the command onto an error: the lock's token, or the login that a connection began with. */
const withoutCommand = (error: unknown): unknown => {
  if (error instanceof Error && 'command' in error) delete error.command
  return error
}

/**
 * Names what came instead of a reply. An answered refusal is no outage: waiting does not help it, and a run may not go
 * around it without a lock, for Valkey runs and other runs may well hold theirs.
 * See decisions.md, "An answered refusal is no outage".
 */
export const lockFailure = (thrown: unknown, key: string): Failure => {
  const error = withoutCommand(thrown)
  if (!isAnswer(error))
    return new Failure(
      'LockUnreachable',
      `Valkey did not answer for ${key}: ${messageOf(error)}. Check that it runs and is reachable on its port and TLS setting.`,
      { cause: error },
    )
  if (PASSING.test(error.message))
    return new Failure(
      'LockUnreachable',
      `Valkey is not ready for ${key}: ${withoutArguments(error.message)}. Wait until it has started or failed over; if it stays so, check that LOCK_HOST is the primary endpoint.`,
      { cause: error },
    )
  const [, name, sentence] = REFUSALS.find(([pattern]) => pattern.test(error.message)) as Kind
  return new Failure(name, `Valkey refuses ${key}: ${withoutArguments(error.message)}. ${sentence}`, { cause: error })
}
