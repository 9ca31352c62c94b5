import { fork } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { parse } from 'csv-parse'
import { stageSource } from '../functions/job/stage/stage-source.ts'
import { generateRatios } from '../local/generate.ts'

/**
 * How fast and how large StageSource is, beside a bare csv-parse pass over the same file: `node bench/stage.ts`.
 * Each pass runs in a process of its own, so that its peak memory is its own. The file is shuffled and as wide as a real
 * one; staging includes decoding, every rule, the sort and the making of all chunk bodies, twice.
 */
const TARGET = { rows: 800_000, seconds: 10, rssMb: 512, bytesPerRow: 200 }

/** `cpuSeconds` does not depend on what else the machine does. */
type Measurement = {
  readonly rows: number
  readonly seconds: number
  readonly cpuSeconds: number
  readonly rssMb: number
}

const stagePass = async (path: string): Promise<number> => {
  const result = await stageSource(createReadStream(path), { sumRule: 'exact', partyScheme: 'opaque' })
  if (!result.accepted) throw new Error(JSON.stringify(result.rejection.errors[0]))
  const { manifest, body } = result.source
  let bytes = 0
  for (const chunk of manifest.chunks) bytes += body(chunk.number).length
  if (bytes !== manifest.chunks.reduce((sum, chunk) => sum + chunk.bytes, 0)) throw new Error('the bodies changed')
  return manifest.rows
}

const parsePass = async (path: string): Promise<number> => {
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

const PASSES = { stage: stagePass, 'bare csv-parse': parsePass }
type Pass = keyof typeof PASSES

const measure = (pass: Pass, path: string): Promise<Measurement> =>
  new Promise((resolve, reject) => {
    const child = fork(import.meta.filename, ['--pass', pass, '--file', path])
    child.once('message', (message) => resolve(message as Measurement))
    child.once('exit', (code) => reject(new Error(`the ${pass} pass ended with ${code}`)))
  })

const runPass = async (pass: Pass, path: string): Promise<void> => {
  const start = performance.now()
  const rows = await PASSES[pass](path)
  const seconds = (performance.now() - start) / 1_000
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  const cpuSeconds = (userCPUTime + systemCPUTime) / 1_000_000
  process.send?.({ rows, seconds, cpuSeconds, rssMb: maxRSS / 1_024 } satisfies Measurement)
  process.disconnect?.()
}

const compare = async (rows: number): Promise<Measurement> => {
  const folder = join(import.meta.dirname, '..', '.local', 'bench')
  const path = join(folder, `stage-${rows}-${process.pid}.csv`)
  await mkdir(folder, { recursive: true })
  try {
    await pipeline(Readable.from(generateRatios({ rows })), createWriteStream(path))
    const mb = (await stat(path)).size / 1_048_576
    console.log(`${rows.toLocaleString('en')} rows, ${mb.toFixed(0)} MB`)
    const bare = await measure('bare csv-parse', path)
    const staged = await measure('stage', path)
    for (const [name, { seconds, cpuSeconds, rssMb }] of Object.entries({ 'bare csv-parse': bare, stage: staged })) {
      const rate = Math.round(rows / seconds).toLocaleString('en')
      const cpu = `${cpuSeconds.toFixed(2)} s of CPU`
      console.log(
        `  ${name.padEnd(15)} ${seconds.toFixed(2)} s (${cpu})  ${rate} rows/s  peak RSS ${rssMb.toFixed(0)} MB`,
      )
    }
    return staged
  } finally {
    await rm(path, { force: true })
  }
}

const { values } = parseArgs({
  options: { rows: { type: 'string' }, pass: { type: 'string' }, file: { type: 'string' } },
})
if (values.pass !== undefined && values.file !== undefined) await runPass(values.pass as Pass, values.file)
else {
  const small = await compare(TARGET.rows)
  const large = await compare(Number(values.rows ?? 5 * TARGET.rows))
  const growth = ((large.rssMb - small.rssMb) * 1_048_576) / (large.rows - small.rows)
  console.log(`growth ${growth.toFixed(0)} bytes a row`)
  const missed = [
    small.seconds >= TARGET.seconds && `${TARGET.rows} rows take ${TARGET.seconds} s or more`,
    small.rssMb >= TARGET.rssMb && `${TARGET.rows} rows take ${TARGET.rssMb} MB or more`,
    growth >= TARGET.bytesPerRow && `a row takes ${TARGET.bytesPerRow} bytes or more`,
  ].filter((text) => text !== false)
  for (const text of missed) console.error(`target missed: ${text}`)
  process.exitCode = missed.length === 0 ? 0 : 1
}
