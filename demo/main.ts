import { type Stack, startStack } from '../local/stack.ts'
import { type Day, logFigures, openDay } from './day.ts'
import { readOptions } from './options.ts'
import { ownFile, requireReadable } from './own-file.ts'
import { checkList, runTable } from './report.ts'
import { closeSetting } from './setting.ts'
import { settlementDay } from './settlement-day.ts'

/**
 * `npm start`: the main job on this machine, without AWS. Brings the local stack up, plays a settlement day (or
 * registers the user's own file), and exits with 0 only if every row in the database is exactly right.
 */
const options = readOptions(process.argv)
const say = (line: string): void => console.log(line)
const startedAt = performance.now()
const seconds = (since: number): string => ((performance.now() - since) / 1_000).toFixed(1)

const main = async (stack: Stack): Promise<boolean> => {
  say(
    `The local stack is up after ${seconds(startedAt)} s: MySQL, Valkey, S3, SNS, Step Functions, Lambda sandboxes.\n`,
  )
  const day = await openDay(stack)
  const dayAt = performance.now()
  try {
    const { file } = options
    if (file === undefined) await settlementDay(day, options, say)
    else await ownFile(day, { ...options, file }, say)
    say(`\n${await summary(day)}`)
    say(`\nFirst state to last check: ${seconds(dayAt)} s; all in all ${seconds(startedAt)} s.`)
  } finally {
    await closeSetting(day)
  }
  return day.checks.every(({ holds }) => holds)
}

const summary = async (day: Day): Promise<string> => {
  const { longestChunkMs, refusedWrites } = await logFigures(day)
  const figures = [
    `  longest chunk transaction   ${Math.round(longestChunkMs)} ms`,
    `  writes refused by the fence ${refusedWrites}`,
  ]
  const table = day.runs.length === 0 ? '' : `${runTable(day.runs)}\n\n`
  return `${table}${figures.join('\n')}\n\n${checkList(day.checks)}`
}

let stack: Stack | undefined
let right = false
try {
  if (options.file !== undefined) await requireReadable(options.file)
  stack = await startStack({ say, keepData: options.keep })
  right = await main(stack)
} catch (error) {
  console.error(error instanceof Error ? `\n${error.message}` : error)
} finally {
  if (options.keep && stack !== undefined) say(`Kept: ${stack.folder}`)
  await stack?.stop()
}
process.exit(right ? 0 : 1)
