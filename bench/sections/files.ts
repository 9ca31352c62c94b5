import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { generateRatios } from '../../local/generate.ts'
import { zipOf } from '../../local/zip-file.ts'
import { atMost, median, ratio, whole } from '../harness/figures.ts'
import { packageVersion } from '../harness/machine.ts'
import type { Sizes } from '../harness/settings.ts'
import type { Say } from '../harness/testbed.ts'
import { workbookFile } from '../harness/workbook-file.ts'
import type { Found, Section } from './section.ts'
import { measurePass, officeFile, type Pass, type PassName } from './staging-pass.ts'

const XLSX_SECONDS_MAX = 90
const XLSX_MB_MAX = 1_024
const PROFILE_RATIO_MAX = 1.25

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
    { name: 'CSV through a profile', pass: 'staging through a profile', bytes: officeFile(records) },
    { name: 'a workbook (xlsx)', pass: 'staging of a workbook', bytes: workbookFile(records) },
  ]
}

/** The middle pass of several, by its processor time. */
const middle = (passes: readonly Pass[]): Pass => {
  const cpu = median(passes.map(({ cpuSeconds }) => cpuSeconds))
  return passes.find(({ cpuSeconds }) => cpuSeconds === cpu) as Pass
}

const measure = async (sizes: Sizes, say: Say): Promise<Found> => {
  const rows = sizes.staging[0]
  const folder = await mkdtemp(join(tmpdir(), 'sharelock-bench-'))
  const forms = formsOf(rows)
  const passes = new Map<string, Pass[]>(forms.map(({ name }) => [name, []]))
  try {
    for (const [at, { bytes }] of forms.entries()) await writeFile(join(folder, `${at}`), bytes)
    // Each form in each round, so that what else the machine does meets all of them.
    for (let round = 0; round < sizes.rounds; round += 1)
      for (const [at, { name, pass }] of forms.entries()) {
        const found = await measurePass(pass, join(folder, `${at}`))
        if (found.rows !== rows) throw new Error(`${name}: ${found.rows} of ${rows} rows`)
        passes.get(name)?.push(found)
        say(`${name}: ${found.seconds.toFixed(1)} s, ${whole(found.rssMb)} MiB`)
      }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  const found = forms.map(({ name, bytes }) => ({ name, bytes, ...middle(passes.get(name) ?? []) }))
  const [plain, workbook] = [found[0], found.at(-1)]
  const profiled = found.find(({ name }) => name === 'CSV through a profile')
  const share = (profiled?.cpuSeconds ?? Number.NaN) / (plain?.cpuSeconds ?? Number.NaN)
  const { seconds = Number.NaN, rssMb = Number.NaN } = workbook ?? {}
  return {
    tables: [
      {
        title: `The same ${whole(rows)} rows in several forms, each read in a process of its own`,
        head: ['form', 'file, MiB', 's', 'CPU, s', 'peak memory, MiB'],
        rows: found.map((form) => [
          form.name,
          whole(form.bytes.length / MIB),
          form.seconds.toFixed(2),
          form.cpuSeconds.toFixed(2),
          whole(form.rssMb),
        ]),
      },
    ],
    charts: [],
    verdicts: [
      atMost(`xlsx of ${whole(rows)} rows, s:`, seconds, XLSX_SECONDS_MAX, seconds.toFixed(1)),
      atMost('its peak memory, MiB:', rssMb, XLSX_MB_MAX, whole(rssMb)),
      atMost('CSV through a profile, CPU beside the canonical file:', share, PROFILE_RATIO_MAX, ratio(share)),
    ],
    notes: [
      'The workbook has its texts as shared strings and its shares as numbers, as Excel saves them.',
      'The profile is a large one: semicolons, columns in Korean, a decimal comma, rows before the header and totals after the data.',
    ],
    settings: { sax: packageVersion('sax'), yauzl: packageVersion('yauzl') },
  }
}

export const files: Section = {
  name: 'files',
  title: 'The forms of a file',
  about: 'StageSource’s pass over the same rows as CSV, packed CSV, a text with a profile and an Excel workbook.',
  needs: 'nothing',
  measure,
}
