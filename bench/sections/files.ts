import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { generateRatios } from '../../local/generate.ts'
import { zipOf } from '../../local/zip-file.ts'
import { atMost, whole } from '../harness/figures.ts'
import { packageVersion } from '../harness/machine.ts'
import type { Sizes } from '../harness/settings.ts'
import type { Say } from '../harness/testbed.ts'
import { workbookFile } from '../harness/workbook-file.ts'
import type { Found, Section } from './section.ts'
import { measurePass, type Pass, type PassName } from './staging-pass.ts'

const XLSX_SECONDS_MAX = 90
const XLSX_MB_MAX = 1_024

const MIB = 1_048_576

type Form = { readonly name: string; readonly pass: PassName; readonly bytes: Buffer }

const formsOf = (rows: number): Form[] => {
  const csv = Buffer.from([...generateRatios({ rows })].join(''))
  const [, ...lines] = csv.toString().trim().split('\n')
  const records = lines.map((line) => line.split(','))
  return [
    { name: 'CSV', pass: 'staging', bytes: csv },
    { name: 'CSV in gzip', pass: 'staging', bytes: gzipSync(csv) },
    { name: 'CSV in a zip archive', pass: 'staging', bytes: zipOf({ name: 'shares.csv', bytes: csv }) },
    { name: 'a workbook (xlsx)', pass: 'staging of a workbook', bytes: workbookFile(records) },
  ]
}

const measure = async (sizes: Sizes, say: Say): Promise<Found> => {
  const rows = sizes.staging[0]
  const folder = await mkdtemp(join(tmpdir(), 'sharelock-bench-'))
  const lines: string[][] = []
  let workbook: Pass | undefined
  try {
    for (const { name, pass, bytes } of formsOf(rows)) {
      const path = join(folder, 'file')
      await writeFile(path, bytes)
      const mb = (await stat(path)).size / MIB
      const found = await measurePass(pass, path)
      if (found.rows !== rows) throw new Error(`${name}: ${found.rows} of ${rows} rows`)
      if (pass === 'staging of a workbook') workbook = found
      lines.push([name, whole(mb), found.seconds.toFixed(2), found.cpuSeconds.toFixed(2), whole(found.rssMb)])
      say(`${name}: ${found.seconds.toFixed(1)} s, ${whole(found.rssMb)} MiB`)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  const { seconds = Number.NaN, rssMb = Number.NaN } = workbook ?? {}
  return {
    tables: [
      {
        title: `The same ${whole(rows)} rows in several forms, each read in a process of its own`,
        head: ['form', 'file, MiB', 's', 'CPU, s', 'peak memory, MiB'],
        rows: lines,
      },
    ],
    charts: [],
    verdicts: [
      atMost(`xlsx of ${whole(rows)} rows, s:`, seconds, XLSX_SECONDS_MAX, seconds.toFixed(1)),
      atMost('its peak memory, MiB:', rssMb, XLSX_MB_MAX, whole(rssMb)),
    ],
    notes: ['The workbook has its texts as shared strings and its shares as numbers, as Excel saves them.'],
    settings: { sax: packageVersion('sax'), yauzl: packageVersion('yauzl') },
  }
}

export const files: Section = {
  name: 'files',
  title: 'The forms of a file',
  about: 'StageSource’s pass over the same rows as CSV, packed CSV and an Excel workbook.',
  needs: 'nothing',
  measure,
}
