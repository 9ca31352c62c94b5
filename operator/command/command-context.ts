import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { DistributorCode, Month } from '../../functions/contract/messages.ts'
import { quoted } from '../../functions/contract/visible.ts'
import { WARNING_NAMES, type Warning, type WarningName } from '../../functions/contract/warnings.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import { requireConfirmation } from '../operations/confirmation.ts'
import { OperationError } from '../operations/operation-error.ts'
import type { Operations } from '../operations/operations.ts'
import { type Format, formatOf } from './formats.ts'
import { Interrupted } from './interrupted.ts'
import { findLocalStack } from './local-stack.ts'
import { Output } from './output.ts'

/** The options that every command takes. */
export type GlobalOptions = {
  readonly stage?: string
  readonly json?: boolean
  readonly format?: Format
  readonly quiet?: boolean
}

/** The options that name a slice; a job's number does it too. */
export type SliceOptions = { readonly distributor?: string; readonly month?: string }

/** One call of the command. */
export type CommandContext = { readonly out: Output; readonly operations: () => Promise<Operations> }

/** Loads the AWS SDK only where a command needs it: help and `validate` answer at once. */
const open = (command: Command, { stage, quiet, ...how }: GlobalOptions): CommandContext => ({
  out: new Output(formatOf(command, how), quiet === true),
  operations: async () => {
    const { configured } = await import('./configuration.ts')
    const { stage: named, variables } = configured(stage, process.env)
    // The SDK reads the process's own variables.
    Object.assign(process.env, variables)
    if (findLocalStack(process.env, named)) process.stderr.write('No stage is named: this is the local stack.\n')
    const { createOperations } = await import('../create-operations.ts')
    return createOperations({ ...process.env, ...(named === undefined ? {} : { SHARELOCK_STAGE: named }) })
  },
})

/** Makes a commander action of a command's work, which returns the exit code. */
export const acting =
  <Arguments extends unknown[]>(work: (context: CommandContext, ...args: Arguments) => Promise<number>) =>
  async (...args: [...Arguments, Command]): Promise<void> => {
    const command = args.at(-1) as Command
    process.exitCode = await work(
      open(command, command.optsWithGlobals<GlobalOptions>()),
      ...(args.slice(0, -1) as Arguments),
    )
  }

const parsed = <T>(schema: { safeParse: (value: unknown) => { data?: T } }, value: string, what: string): T => {
  const { data } = schema.safeParse(value)
  if (data !== undefined) return data
  throw new OperationError('Usage', `${quoted(value)} is not ${what}.`)
}

export const monthOf = (text: string): string => parsed(Month, text, 'a settlement month such as 2026-10')

export const codeOf = (text: string): string =>
  parsed(DistributorCode, text, 'a distributor code: 1-32 of letters, digits, _ and -')

/** The slice that the two options name. */
export const sliceOf = ({ distributor, month }: SliceOptions): SliceName => {
  if (distributor === undefined || month === undefined)
    throw new OperationError('Usage', 'Name the slice: --distributor CODE --month YYYY-MM.')
  return { distributor: codeOf(distributor), month: monthOf(month) }
}

export const jobOf = (text: string): number => {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new OperationError('Usage', `${quoted(text)} is not a job's number.`)
}

/** The slice of a job, or the one that the options name. */
export const sliceOfEither = async (
  operations: Operations,
  job: string | undefined,
  options: SliceOptions,
): Promise<SliceName> => {
  if (job === undefined) return sliceOf(options)
  if (options.distributor !== undefined || options.month !== undefined)
    throw new OperationError('Usage', 'Name either a job or a slice, not both.')
  const { distributor, month } = await operations.show({ job: jobOf(job) })
  return { distributor, month }
}

/**
 * Asks for a typed confirmation where one is needed and was not given. Only a person at a terminal is asked.
 *
 * @returns what was given or typed, @throws OperationError Unconfirmed
 */
export const confirm = async (
  { out }: CommandContext,
  expected: string | null,
  given: string | undefined,
): Promise<string | undefined> => {
  const asks = expected !== null && given === undefined && !out.json && process.stdin.isTTY === true
  // Nothing typed is no answer.
  const typed = asks ? (await ask(`Type "${expected}" to go on: `)) || undefined : given
  requireConfirmation(expected, typed)
  return typed
}

/**
 * Asks for a yes where no typed confirmation is needed. A script gives it: `--yes`, or the slice's name as `--confirm`.
 *
 * @throws OperationError Unconfirmed
 */
export const agree = async (
  { out }: CommandContext,
  name: string,
  { yes, confirm: given }: { readonly yes?: boolean; readonly confirm?: string },
): Promise<void> => {
  if (given !== undefined) return requireConfirmation(name, given)
  if (yes === true) return
  if (out.json || process.stdin.isTTY !== true)
    throw new OperationError('Unconfirmed', 'Nothing was started: in a script, say yes to what is shown with --yes.')
  if (/^y(es)?$/i.test(await ask('Start it? [y/N] '))) return
  throw new OperationError('Unconfirmed', 'Nothing was started.')
}

/**
 * Asks to type the names of warnings that were not confirmed yet. Only a person at a terminal is asked.
 *
 * @returns all names that are confirmed now
 */
export const accepted = async (
  { out }: CommandContext,
  open: readonly Warning[],
  given: readonly WarningName[],
): Promise<readonly WarningName[]> => {
  if (open.length === 0 || out.json || process.stdin.isTTY !== true) return given
  const names = open.map(({ name }) => name)
  const typed = await ask(`The file has warnings. If it is right all the same, type "${names.join(',')}" to go on: `)
  return [...given, ...warningNamesOf(typed)]
}

/** Names of warnings as they are typed: `fractions,number-ids`. */
export const warningNamesOf = (text: string): WarningName[] =>
  text.split(/[\s,]+/).flatMap((word) => {
    const name = WARNING_NAMES.find((each) => each === word)
    if (name === undefined && word !== '')
      throw new OperationError('Usage', `${quoted(word)} is no warning; there are: ${WARNING_NAMES.join(', ')}.`)
    return name === undefined ? [] : [name]
  })

/** @returns what was typed, nothing where the input ended (Ctrl-D), @throws Interrupted at Ctrl-C */
const ask = async (question: string): Promise<string> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  terminal.once('SIGINT', () => reject(new Interrupted()))
  terminal.once('close', () => {
    process.stderr.write('\n')
    resolve('')
  })
  try {
    return (await Promise.race([terminal.question(question), promise])).trim()
  } finally {
    terminal.removeAllListeners('close')
    terminal.close()
  }
}
