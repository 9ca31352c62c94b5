import { setImmediate } from 'node:timers/promises'
import { readSource } from '../../functions/job/staging/read-source.ts'
import { generateRatios } from '../../local/generate.ts'
import { atMost, ratio, whole } from '../harness/figures.ts'
import { packageVersion } from '../harness/machine.ts'
import type { Sizes } from '../harness/settings.ts'
import { RULES } from '../harness/staged-file.ts'
import type { Say } from '../harness/testbed.ts'
import type { Found, Section } from './section.ts'

/** A refused file takes at most this many times the CPU of a good one of as many bytes. */
const CPU_SHARE_MAX = 1.5

const MIB = 1_048_576
const PIECE_BYTES = 65_536

const HEADER = 'isrc,right_type,party_id,share\n'
const isrcOf = (n: number): string => `KRA01${String(n).padStart(7, '0')}`

/** Files that cost the most for what they are: the line that each repeats, by its number. */
const KINDS: Readonly<Record<string, (n: number) => string>> = {
  'a trailing comma in each row': (n) => `${isrcOf(n)},P,A,1,\n`,
  'one letter a line': () => 'a\n',
  'one space a line': () => ' \n',
  'empty lines': () => '\n',
  'commas alone': () => ',,,\n',
  'a wrong share in each row': (n) => `${isrcOf(n)},P,A,x\n`,
  'a formula in each row': (n) => `${isrcOf(n)},P,="A",1\n`,
  'one row, again and again': () => 'KRA012600001,P,A,1\n',
  '4,000 columns': (n) => `${isrcOf(n)},P,A,1${','.repeat(4_000)}\n`,
  'one line of commas': () => ',',
  'sums above 100': (n) => `${isrcOf(n >> 1)},P,A${n & 1},99\n`,
}

const fileOf = (line: (n: number) => string, bytes: number): Buffer => {
  const file = Buffer.alloc(bytes)
  let at = file.write(HEADER)
  for (let n = 0; at < bytes; n++) at += file.write(line(n), at, 'latin1')
  return file
}

async function* pieces(file: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < file.length; at += PIECE_BYTES) {
    yield file.subarray(at, at + PIECE_BYTES)
    await setImmediate()
  }
}

type Reading = { readonly cpuSeconds: number; readonly verdict: string }

const read = async (file: Buffer): Promise<Reading> => {
  const from = process.cpuUsage()
  const result = await readSource(pieces(file), RULES)
  const { user, system } = process.cpuUsage(from)
  const verdict = result.accepted
    ? 'accepted'
    : `${whole(result.rejection.total)} x ${result.rejection.errors[0]?.rule}`
  return { cpuSeconds: (user + system) / 1_000_000, verdict }
}

const measure = async (sizes: Sizes, say: Say): Promise<Found> => {
  const good = Buffer.from([...generateRatios({ rows: sizes.staging[0] })].join(''))
  const bytes = good.length
  // The first one pays for the compiler.
  await read(good)
  const standard = await read(good)
  const lines = [['a good file', standard.verdict, standard.cpuSeconds.toFixed(2), '1.00']]
  let worst = 0
  for (const [kind, line] of Object.entries(KINDS)) {
    const { cpuSeconds, verdict } = await read(fileOf(line, bytes))
    const share = cpuSeconds / standard.cpuSeconds
    worst = Math.max(worst, share)
    lines.push([kind, verdict, cpuSeconds.toFixed(2), ratio(share)])
    say(`${kind}: ${ratio(share)} times a good file`)
  }
  return {
    tables: [
      {
        title: `Files of ${whole(bytes / MIB)} MiB, one after the other in one process`,
        head: ['what is in it', 'verdict, first rule', 'CPU, s', 'times a good file'],
        rows: lines,
      },
    ],
    charts: [],
    verdicts: [atMost('CPU of a hostile file beside a good one:', worst, CPU_SHARE_MAX, ratio(worst))],
    notes: ['Reading ends at a limit where a file has no end of errors, blank lines or columns.'],
    settings: { 'csv-parse': packageVersion('csv-parse') },
  }
}

export const hostile: Section = {
  name: 'hostile',
  title: 'Reading a hostile file',
  about: 'Files that are made to cost, beside a good file of as many bytes, by StageSource’s pass over them.',
  needs: 'nothing',
  measure,
}
