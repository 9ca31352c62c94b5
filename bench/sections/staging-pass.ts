import { fork } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { parse } from 'csv-parse'
import { CANONICAL, Profile } from '../../functions/contract/profile.ts'
import { readSource } from '../../functions/job/staging/read-source.ts'
import { peakMb } from '../harness/peak-memory.ts'
import { RULES } from '../harness/staged-file.ts'

/** What one pass over a file took. `cpuSeconds` does not depend on what else the machine does. */
export type Pass = {
  readonly rows: number
  readonly seconds: number
  readonly cpuSeconds: number
  readonly rssMb: number
}

/** Staging: decoding, every rule, the sort, and the making of all chunk bodies, twice. */
const staging = async (path: string, profile = CANONICAL): Promise<number> => {
  const result = await readSource(createReadStream(path), RULES, { profile })
  if (!result.accepted) throw new Error(JSON.stringify(result.rejection.errors[0]))
  const { manifest, body } = result.source
  let bytes = 0
  for (const chunk of manifest.chunks) bytes += body(chunk.number).length
  if (bytes !== manifest.chunks.reduce((sum, chunk) => sum + chunk.bytes, 0)) throw new Error('the bodies changed')
  return manifest.rows
}

/** Nothing but the parser that staging uses too. */
const bareParse = async (path: string): Promise<number> => {
  let rows = -1
  const count = (): null => {
    rows += 1
    return null
  }
  const parser = parse({ on_record: count })
  parser.resume()
  await pipeline(createReadStream(path), parser)
  return rows
}

const WORKBOOK = Profile.parse({ format: { kind: 'xlsx' } })

/** As an office sends it: semicolons, columns in Korean, a decimal comma, a title before and totals after. */
const OFFICE = Profile.parse({
  format: { kind: 'delimited', delimiter: ';' },
  rowsBeforeHeader: 2,
  rowsAfterData: 1,
  decimalSign: ',',
  columns: { isrc: ['국제표준녹음코드'], right_type: ['권리유형'], party_id: ['권리자번호'], share: ['지분율'] },
})
const OFFICE_HEAD = ['정산 내역', '기준;2026-10', '국제표준녹음코드;권리유형;권리자번호;지분율']

/** The same records as that profile reads them. */
export const officeFile = (records: readonly (readonly string[])[]): Buffer => {
  const lines = records.map((record) =>
    record.map((value, at) => (at === 3 ? value.replace('.', ',') : value)).join(';'),
  )
  return Buffer.from(`${[...OFFICE_HEAD, ...lines, `합계;;;${records.length}`].join('\n')}\n`)
}

const PASSES = {
  staging: (path: string) => staging(path),
  'staging of a workbook': (path: string) => staging(path, WORKBOOK),
  'staging through a profile': (path: string) => staging(path, OFFICE),
  'bare csv-parse': bareParse,
}
export type PassName = keyof typeof PASSES

/** Runs a pass in a process of its own, so that its peak memory is its own. */
export const measurePass = (pass: PassName, path: string): Promise<Pass> =>
  new Promise((resolve, reject) => {
    const child = fork(import.meta.filename, [pass, path])
    child.once('message', (message) => resolve(message as Pass))
    child.once('exit', (code) => reject(new Error(`the ${pass} pass ended with ${code}`)))
  })

const run = async (pass: PassName, path: string): Promise<void> => {
  const startedAt = performance.now()
  const rows = await PASSES[pass](path)
  const seconds = (performance.now() - startedAt) / 1_000
  const { userCPUTime, systemCPUTime } = process.resourceUsage()
  const cpuSeconds = (userCPUTime + systemCPUTime) / 1_000_000
  process.send?.({ rows, seconds, cpuSeconds, rssMb: peakMb() } satisfies Pass)
  process.disconnect?.()
}

if (import.meta.main) await run(process.argv[2] as PassName, process.argv[3] ?? '')
