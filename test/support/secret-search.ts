import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { HistoryEvent } from '../../local/engine/history.ts'
import type { Stack } from '../../local/stack.ts'

/** A piece of what a stack said to somebody, e.g. a log's line, an event of a history, the output of a command. */
export type Said = { readonly where: string; readonly text: string }

/** What nobody may find in what was said. */
export type Secrets = {
  /** Passwords and keys: nowhere. */
  readonly words: readonly string[]
  /** Locks' tokens: only where the state machine hands them from task to task. */
  readonly tokens: readonly string[]
}

const PRESIGNED = /X-Amz-(Signature|Security-Token)=(?!\*\*\*)/i
const STATEMENT =
  /\b(insert into \S+ ?\(|replace into \S+|update \S+ set|delete from \S+ where|load data|(create|alter) user)[^{}]{0,500}?'[^']*'/i

/** The secrets in a text, by what they are. */
const foundIn = (text: string, { words, tokens }: Secrets, mayHaveTokens: boolean): string[] => [
  ...words.filter((word) => text.includes(word)).map(() => 'a password or key'),
  ...(mayHaveTokens ? [] : tokens.filter((token) => text.includes(token)).map(() => "a lock's token")),
  ...(PRESIGNED.test(text) ? ['a presigned login'] : []),
  ...(STATEMENT.test(text) ? ['a statement with its values'] : []),
]

/**
 * The values that travel between tasks stay inside the execution: states and the inputs of Lambda have the token. So has
 * its output, which whoever awaited it is handed; its lock is released by then.
 */
const mayHaveTokens = (event: HistoryEvent): boolean =>
  /^(Task|Pass|Choice|Map|Parallel|Wait|Succeed|Fail)State(Entered|Exited)$|^LambdaFunctionScheduled$|^ExecutionSucceeded$/.test(
    event.type,
  ) || isAwaitedOutput(event)

const isAwaitedOutput = ({ type, taskSucceededEventDetails }: HistoryEvent): boolean =>
  type === 'TaskSucceeded' && String(taskSucceededEventDetails?.output).startsWith('{"ExecutionArn":')

const SHOWN_CHARS = 300

/** `where: what: text` of each place that has a secret; the secret itself may be in the text. */
export const secretsIn = (said: readonly Said[], secrets: Secrets, tokensAllowed = false): string[] =>
  said.flatMap(({ where, text }) =>
    foundIn(text, secrets, tokensAllowed).map((what) => `${where}: ${what}: ${text.slice(0, SHOWN_CHARS)}`),
  )

const logLines = async (folder: string): Promise<Said[]> => {
  const files = await readdir(folder).catch(() => [])
  const logs = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  return logs.flatMap((log, index) =>
    log.split('\n').map((text, line) => ({ where: `${basename(files[index] ?? '')}:${line + 1}`, text })),
  )
}

/** Every token that a machine minted, from the states that have it. */
const tokensOf = (events: readonly string[]): string[] => [
  ...new Set(
    events.flatMap((text) =>
      [...text.matchAll(/\\?"token\\?":\s?\\?"([^"\\]+\/[0-9a-f-]{36})/g)].map(([, token]) => token ?? ''),
    ),
  ),
]

/**
 * Searches all that a stack said for what it must not say: its functions' logs, the histories of its executions with
 * every answer in them, and what operators were told.
 *
 * @param told outputs of commands, pages and answers to operators
 * @returns a line for each place
 */
export const searchSecrets = async (stack: Stack, told: readonly Said[]): Promise<string[]> => {
  const executions = stack.engine.executions()
  const events = executions.flatMap(({ name, history }) =>
    history.events.map((event) => ({
      event,
      said: { where: `${name} ${event.id} ${event.type}`, text: JSON.stringify(event) },
    })),
  )
  const { app, master } = stack.database
  const passwords = [app.password, master.password].filter((password) => password.length >= 8)
  const secrets: Secrets = {
    words: [...passwords, stack.environment.AWS_SECRET_ACCESS_KEY ?? ''].filter((word) => word !== ''),
    tokens: tokensOf(events.map(({ said }) => said.text)),
  }
  const [inside, answers] = [true, false].map((isInside) =>
    events.filter(({ event }) => mayHaveTokens(event) === isInside).map(({ said }) => said),
  )
  return [
    ...secretsIn(await logLines(stack.logsFolder), secrets),
    ...secretsIn(inside ?? [], secrets, true),
    ...secretsIn(answers ?? [], secrets),
    ...secretsIn(told, secrets),
  ]
}
