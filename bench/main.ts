import { spawnSync } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { startStack } from '../local/stack.ts'
import { LANES, measureReplace, type Times } from './replace.ts'

/**
 * `npm run bench`: Sharelock beside the physical floor, on one server in one run. Prints ratios; the absolute numbers are
 * this machine's. Ends with 1 if a target is missed. Options: `--rows N` (800,000), `--rounds N` (3).
 */
const option = (name: string, fallback: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at === -1 ? fallback : Number(process.argv[at + 1])
}
const rows = option('rows', 800_000)
const rounds = option('rounds', 3)

const TARGETS = { register: 0.8, delete: 0.8, longestChunkMs: 1_000, takeOverMs: 500 }

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
}
const rateOf = (times: readonly Times[], of: keyof Times): number =>
  rows / (median(times.map((time) => time[of])) / 1_000)
const number = (value: number): string => Math.round(value).toLocaleString('en-US')

const stack = await startStack({ say: console.log })
let missed = 0
try {
  const connection = await createConnection({
    host: stack.database.host,
    port: stack.database.port,
    ...stack.database.master,
  })
  const [[server]] = await connection.query<never[]>(
    `select version() as version, @@sync_binlog as syncBinlog, @@innodb_flush_log_at_trx_commit as flushAtCommit,
            @@innodb_buffer_pool_size / 1048576 as bufferPoolMb`,
  )
  connection.destroy()
  const cpu = cpus()
  console.log(
    `${cpu.length} x ${cpu[0]?.model.trim()}, ${number(totalmem() / 2 ** 30)} GiB, Node ${process.version}; MySQL ${JSON.stringify(server)}`,
  )
  console.log(`${number(rows)} rows, ${LANES} lanes, ${rounds} rounds, medians:`)
  const figures = await measureReplace(stack, rows, rounds, console.log)
  const lines: [string, string, boolean][] = []
  for (const [name, of] of [
    ['register', 'registerMs'],
    ['delete', 'deleteMs'],
  ] as const) {
    const own = rateOf(figures.sharelock, of)
    const floor = rateOf(figures.bare, of)
    const ratio = own / floor
    const text = `${number(own)} rows/s beside ${number(floor)} of the bare statements: ${ratio.toFixed(2)} (at least ${TARGETS[name]})`
    lines.push([name, text, ratio >= TARGETS[name]])
  }
  const { longestChunkMs, takeOversMs } = figures
  const takeOverMs = Math.max(...takeOversMs)
  lines.push(
    [
      'longest chunk',
      `${number(longestChunkMs)} ms (under ${TARGETS.longestChunkMs})`,
      longestChunkMs < TARGETS.longestChunkMs,
    ],
    [
      'take-over under load',
      `${number(takeOverMs)} ms, the longest of ${rounds} (under ${TARGETS.takeOverMs})`,
      takeOverMs < TARGETS.takeOverMs,
    ],
  )
  for (const [name, text, reached] of lines)
    console.log(`${reached ? 'reached' : 'MISSED '}  ${name.padEnd(22)} ${text}`)
  missed = lines.filter(([, , reached]) => !reached).length
} finally {
  await stack.stop()
}

// Staging has no server; its passes run in processes of their own, so that their memory is theirs alone.
console.log('\nStageSource:')
const stage = spawnSync(process.execPath, [join(import.meta.dirname, 'stage.ts')], { stdio: 'inherit' })
process.exit(missed === 0 && stage.status === 0 ? 0 : 1)
