import { CommanderError } from 'commander'
import { messageOf } from '../../functions/contract/errors.ts'
import { OPERATION_ERRORS, OperationError, type OperationErrorName } from '../operations/operations.ts'
import { buildProgram } from './program.ts'

/*
 * Runs the command line. Each command stands in a file of this folder, what it does in bin/operations/; here errors become
 * a sentence on stderr, or with --json a document on stdout, and an exit code.
 */
const nameOf = (error: unknown): OperationErrorName => {
  if (error instanceof CommanderError) return 'Usage'
  return error instanceof OperationError ? error.name : 'Failed'
}

/** Commander writes `error: ` before its sentences; an unexpected error is worth its stack. */
const textOf = (error: unknown): string => {
  if (error instanceof CommanderError) return error.message.replace(/^error: /, '')
  if (error instanceof OperationError || !(error instanceof Error)) return messageOf(error)
  return error.stack ?? error.message
}

/** @returns the exit code */
const report = (error: unknown): number => {
  // Help that was asked for is a success; commander has written it either way.
  if (error instanceof CommanderError && error.code.startsWith('commander.help'))
    return error.exitCode === 0 ? 0 : OPERATION_ERRORS.Usage
  const name = nameOf(error)
  if (process.argv.includes('--json')) console.log(JSON.stringify({ error: name, message: textOf(error) }))
  else console.error(textOf(error))
  return OPERATION_ERRORS[name]
}

try {
  await buildProgram().parseAsync()
} catch (error) {
  process.exitCode = report(error)
}
