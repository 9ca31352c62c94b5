import { type Command, CommanderError } from 'commander'
import { messageOf } from '../../functions/contract/failures.ts'
import { visible, visibleJson } from '../../functions/contract/visible.ts'
import { OPERATION_ERRORS, OperationError, type OperationErrorName } from '../operations/operation-error.ts'
import { endWithPipe } from './closed-pipe.ts'
import { endWhenInterrupted, INTERRUPTED, Interrupted } from './interrupted.ts'

/*
 * Errors become a sentence on stderr, or with --json a document on stdout, and an exit code.
 */
const nameOf = (error: unknown): OperationErrorName => {
  if (error instanceof CommanderError) return 'Usage'
  return error instanceof OperationError ? error.name : 'Failed'
}

/** Commander writes `error: ` before its sentences. */
const textOf = (error: unknown): string =>
  error instanceof CommanderError ? error.message.replace(/^error: /, '') : messageOf(error)

/** The lines of a stack that say where, and none that its message may hold. */
const placesOf = ({ stack = '', message }: Error): string[] =>
  stack
    .slice(stack.indexOf(message) + message.length)
    .split('\n')
    .filter((line) => line.startsWith('    at '))

/**
 * A sentence; an unexpected error is worth its stack. Commander's sentences may have a second line, and it made both.
 */
const linesOf = (error: unknown): string[] => {
  if (error instanceof CommanderError) return textOf(error).split('\n')
  if (error instanceof OperationError || !(error instanceof Error)) return [textOf(error)]
  return [`${error.name}: ${textOf(error)}`, ...placesOf(error)]
}

/** Looked for in the words themselves: what is wrong may be that they cannot be read. */
const ASKS_JSON = / --json\b| (-o|--format)[ =]?json\b/

/** @returns the exit code */
const report = (error: unknown): number => {
  // Help or the version that was asked for is a success; commander has written it either way.
  if (error instanceof CommanderError && /^commander\.(help|version)/.test(error.code))
    return error.exitCode === 0 ? 0 : OPERATION_ERRORS.Usage
  if (error instanceof Interrupted) {
    console.error(error.message)
    return INTERRUPTED
  }
  const name = nameOf(error)
  if (ASKS_JSON.test(process.argv.join(' '))) console.log(visibleJson({ error: name, message: textOf(error) }))
  else console.error(linesOf(error).map(visible).join('\n'))
  return OPERATION_ERRORS[name]
}

/** Runs the command line that the process was started with, by a program whose errors are thrown. */
export const runProgram = async (program: Command): Promise<void> => {
  endWithPipe()
  endWhenInterrupted()
  try {
    await program.parseAsync()
  } catch (error) {
    process.exitCode = report(error)
  }
}

/** Commander ends the process by itself otherwise. Help stays printed. */
export const throwErrors = (command: Command): void => {
  command.exitOverride().configureOutput({ outputError: () => undefined })
  for (const sub of command.commands) throwErrors(sub)
}
