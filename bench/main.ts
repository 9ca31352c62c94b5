import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { LOCAL, ROOT } from '../local/host/paths.ts'
import { machine } from './harness/machine.ts'
import { page } from './harness/page.ts'
import type { Result } from './harness/result.ts'
import { keep, kept } from './harness/results.ts'
import { FULL, SMALL } from './harness/settings.ts'
import { closeTestbed, openTestbed, type Testbed } from './harness/testbed.ts'
import { chunks } from './sections/chunks.ts'
import { files } from './sections/files.ts'
import { hostile } from './sections/hostile.ts'
import { killed } from './sections/killed/killed.ts'
import { lanes } from './sections/lanes.ts'
import { lock } from './sections/lock/lock.ts'
import { peers } from './sections/peers.ts'
import { readers } from './sections/readers.ts'
import { replace } from './sections/replace.ts'
import { scale } from './sections/scale.ts'
import type { Found, Section } from './sections/section.ts'
import { snapshot } from './sections/snapshot.ts'
import { staging } from './sections/staging.ts'
import { switching } from './sections/switch.ts'

/**
 * `npm run bench`: every section, then docs/benchmarks.md from all results there are. Ends with 1 if a section fails or
 * a target is missed. Options:
 *
 *   --only peers,lock   these sections; the others' results stay as they are
 *   --small             a minute or two, to see it work; its page stays under .local
 *   --rounds 1          how often each measurement is repeated; 3 by default
 *   --page              no measuring, only the page
 */
const SECTIONS: readonly Section[] = [
  replace,
  switching,
  peers,
  killed,
  lanes,
  chunks,
  snapshot,
  scale,
  readers,
  lock,
  staging,
  files,
  hostile,
]
const NAMES = SECTIONS.map(({ name }) => name)

// The lanes that run in this process count for themselves; their metrics would be printed between the lines.
process.env.POWERTOOLS_METRICS_DISABLED = 'true'
process.env.POWERTOOLS_LOG_LEVEL = 'SILENT'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string' },
    small: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
  },
})
const { small } = values
const wanted = values.page ? [] : (values.only?.split(',') ?? NAMES)
for (const name of wanted)
  if (!NAMES.includes(name)) throw new Error(`There is no section ${name}; the sections are: ${NAMES.join(', ')}`)
const standard = small ? SMALL : FULL
const sizes = { ...standard, rounds: Number(values.rounds ?? standard.rounds) }

const startedAt = performance.now()
const say = (line: string): void =>
  console.log(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(5)} s  ${line}`)

let testbed: Testbed | undefined

const measure = async (section: Section): Promise<{ found: Found; settings: Record<string, string> }> => {
  if (section.needs === 'nothing') return { found: await section.measure(sizes, say), settings: {} }
  testbed ??= await openTestbed(sizes, say)
  return { found: await section.measure(testbed), settings: testbed.settings }
}

const run = async (section: Section): Promise<Result> => {
  const { name, title, about } = section
  say(`${name}: ${title}`)
  const from = performance.now()
  const ranAt = new Date().toISOString()
  // Asked before the work starts: afterwards the load would be this benchmark's own.
  const before = machine()
  const { found, settings } = await measure(section)
  const { settings: own, ...findings } = found
  const seconds = (performance.now() - from) / 1_000
  return {
    section: name,
    title,
    about,
    ranAt,
    seconds,
    machine: before,
    settings: { ...settings, ...own },
    ...findings,
  }
}

const failed: string[] = []
for (const section of SECTIONS.filter(({ name }) => wanted.includes(name)))
  try {
    await keep(small, await run(section))
  } catch (error) {
    failed.push(section.name)
    console.error(error)
    // What a failed section left running must not disturb the next one.
    if (testbed !== undefined) await closeTestbed(testbed)
    testbed = undefined
  }
if (testbed !== undefined) await closeTestbed(testbed)

const results = await kept(small, NAMES)
const path = small ? join(LOCAL, 'bench', 'small', 'benchmarks.md') : join(ROOT, 'docs', 'benchmarks.md')
await writeFile(path, page(results))
say(`wrote ${relative(ROOT, path)}`)
for (const { target, measured, met } of results.flatMap(({ verdicts }) => verdicts))
  console.log(`${met ? 'met   ' : 'MISSED'}  ${target}  ${measured}`)
for (const name of failed) console.log(`FAILED  ${name}`)
const missed = results
  .filter(({ section }) => wanted.includes(section))
  .flatMap(({ verdicts }) => verdicts.filter(({ met }) => !met))
process.exit(missed.length + failed.length === 0 ? 0 : 1)
