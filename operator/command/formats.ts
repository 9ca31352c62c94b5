import { type Command, Option } from 'commander'
import { OperationError } from '../operations/operation-error.ts'

const FORMATS = ['table', 'json', 'csv'] as const
export type Format = (typeof FORMATS)[number]

/** What answers with a list, which is all that CSV can hold. */
const LISTS: readonly string[] = ['list', 'audit', 'distributors', 'distributors list']

/** `distributors list`: the words behind the program's name. */
const nameOf = (command: Command): string => {
  const names: string[] = []
  for (let each = command; each.parent !== null; each = each.parent) names.unshift(each.name())
  return names.join(' ')
}

/** @throws OperationError Usage, before anything is done, where the command has no such answer */
export const formatOf = (
  command: Command,
  { json, format = json === true ? 'json' : 'table' }: { readonly json?: boolean; readonly format?: Format },
): Format => {
  if (json === true && format !== 'json') throw new OperationError('Usage', 'Give --json or --format, not both.')
  if (format !== 'csv' || LISTS.includes(nameOf(command))) return format
  throw new OperationError(
    'Usage',
    `\`${nameOf(command)}\` answers with no list, and CSV holds nothing else: give --format json. CSV is for: list, audit, distributors.`,
  )
}

/** `--format` for every command, and `-o` for it where that is not a file's path. */
export const withFormat = (command: Command): void => {
  for (const sub of command.commands) withFormat(sub)
  if (command.parent === null || command.options.some(({ long }) => long === '--format')) return
  const hasPath = command.options.some(({ short }) => short === '-o')
  const flags = hasPath ? '--format <form>' : '-o, --format <form>'
  command.addOption(new Option(flags, 'how the answer is written').choices(FORMATS))
}
