import { type FailureEntry, failureNamed, type RemedyCommand } from './failure-table.ts'
import type { Slice } from './words.ts'

type SliceName = Pick<Slice, 'distributor' | 'month'>

/** The options that name a slice in a command. */
export const sliceOptions = ({ distributor, month }: SliceName): string =>
  `--distributor ${distributor} --month ${month}`

/** Every command that a remedy may name. Where no job is open yet there is nothing to resume: the same start again does it. */
const commandsOf = (slice: SliceName, isOpen: boolean): Readonly<Record<RemedyCommand, string>> => {
  const options = sliceOptions(slice)
  const start = `sharelock start ${options} --file FILE`
  return {
    goOn: isOpen ? `sharelock resume ${options}` : start,
    show: `sharelock show ${options}`,
    start,
    supersede: `${start} --supersede`,
    startOver: `${start} --supersede --force`,
    list: 'sharelock list',
    distributors: 'sharelock distributors list',
    setDistributor: 'sharelock distributors set CODE',
  }
}

/** What Lambda or Step Functions calls an error has no row: going on is always safe. */
const UNKNOWN: Pick<FailureEntry, 'advice' | 'command'> = { advice: 'Look at the cause, then go on', command: 'goOn' }

/** What to do about a failure: why, and the one command to type. The failure's name is there for other languages. */
export type Remedy = { readonly failure: string; readonly advice: string; readonly command: string }

/**
 * The remedy of a failure, for every face of the program and for subscribers.
 *
 * @param error a failure's name, or what Lambda or Step Functions called it
 * @param isOpen whether the slice has an open job
 */
export const remedyOf = (error: string, slice: SliceName, isOpen: boolean): Remedy => {
  const { advice, command } = failureNamed(error) ?? UNKNOWN
  return { failure: error, advice, command: commandsOf(slice, isOpen)[command] }
}

/** The remedy as a sentence that ends with its command. */
export const remedyText = ({ advice, command }: Omit<Remedy, 'failure'>): string => `${advice}: ${command}`
