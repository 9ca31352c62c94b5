import { type Stack, startStack } from '../local/stack.ts'
import { readOptions } from './options.ts'
import { ownFile, requireReadable } from './own-file.ts'
import { checkList, runTable } from './report.ts'
import { closeSetting, logFigures, openSetting, type Setting } from './setting.ts'
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
  const setting = await openSetting(stack)
  const dayAt = performance.now()
  try {
    const { file } = options
    if (file === undefined) await settlementDay(setting, options, say)
    else await ownFile(setting, { ...options, file }, say)
    say(`\n${await summary(setting)}`)
    say(`\nFirst state to last check: ${seconds(dayAt)} s; all in all ${seconds(startedAt)} s.`)
  } finally {
    await closeSetting(setting)
  }
  return setting.checks.every(({ holds }) => holds)
}

const summary = async (setting: Setting): Promise<string> => {
  const { longestChunkMs, refusedWrites } = await logFigures(setting)
  const figures = [
    `  longest chunk transaction   ${Math.round(longestChunkMs)} ms`,
    `  writes refused by the fence ${refusedWrites}`,
  ]
  const table = setting.runs.length === 0 ? '' : `${runTable(setting.runs)}\n\n`
  return `${table}${figures.join('\n')}\n\n${checkList(setting.checks)}`
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
