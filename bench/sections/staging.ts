import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { generateRatios } from '../../local/generate.ts'
import { atMost, ratio, whole } from '../harness/figures.ts'
import { packageVersion } from '../harness/machine.ts'
import type { Sizes } from '../harness/settings.ts'
import type { Say } from '../harness/testbed.ts'
import type { Found, Section } from './section.ts'
import { measurePass, type Pass } from './staging-pass.ts'

/** For the smaller file, and for what each further row adds. */
const SECONDS_MAX = 10
const RSS_MB_MAX = 512
const BYTES_PER_ROW_MAX = 200

const MIB = 1_048_576

type Figures = { readonly rows: number; readonly mb: number; readonly bare: Pass; readonly staged: Pass }

const measureFile = async (folder: string, rows: number): Promise<Figures> => {
  const path = join(folder, `${rows}.csv`)
  await pipeline(Readable.from(generateRatios({ rows })), createWriteStream(path))
  const mb = (await stat(path)).size / MIB
  const bare = await measurePass('bare csv-parse', path)
  const staged = await measurePass('staging', path)
  await rm(path)
  return { rows, mb, bare, staged }
}

const measure = async (sizes: Sizes, say: Say): Promise<Found> => {
  const folder = await mkdtemp(join(tmpdir(), 'sharelock-bench-'))
  try {
    const small = await measureFile(folder, sizes.staging[0])
    say(`${whole(sizes.staging[0])} rows done`)
    return report(small, await measureFile(folder, sizes.staging[1]))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const report = (small: Figures, large: Figures): Found => {
  const growth = (of: 'bare' | 'staged') => ((large[of].rssMb - small[of].rssMb) * MIB) / (large.rows - small.rows)
  const line = (name: string, { rows, mb }: Figures, pass: Pass) => [
    ...[name, whole(rows), whole(mb), pass.seconds.toFixed(2), pass.cpuSeconds.toFixed(2)],
    ...[whole(rows / pass.seconds), whole(pass.rssMb)],
  ]
  const share = small.staged.cpuSeconds / small.bare.cpuSeconds
  return {
    tables: [
      {
        title: 'A shuffled file, each pass in a process of its own',
        head: ['', 'rows', 'file, MiB', 's', 'CPU, s', 'rows/s', 'peak memory, MiB'],
        rows: [small, large].flatMap((figures) => [
          line('bare csv-parse', figures, figures.bare),
          line('StageSource', figures, figures.staged),
        ]),
      },
    ],
    charts: [],
    verdicts: [
      atMost(
        `StageSource of ${whole(small.rows)} rows, s:`,
        small.staged.seconds,
        SECONDS_MAX,
        small.staged.seconds.toFixed(2),
      ),
      atMost(`its peak memory, MiB:`, small.staged.rssMb, RSS_MB_MAX, whole(small.staged.rssMb)),
      atMost('memory of a further row, bytes:', growth('staged'), BYTES_PER_ROW_MAX, whole(growth('staged'))),
    ],
    notes: [
      `Staging takes ${ratio(share)} times the CPU of parsing alone: it decodes, judges and normalises every value, sorts, sums per track and makes every chunk’s body twice. The object store is not part of it.`,
    ],
    settings: { 'csv-parse': packageVersion('csv-parse') },
  }
}

export const staging: Section = {
  name: 'staging',
  title: 'Reading the file',
  about: 'StageSource’s pass over a file beside a bare csv-parse pass over the same file, which keeps nothing.',
  needs: 'nothing',
  measure,
}
