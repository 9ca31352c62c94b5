import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { PROPERTIES } from './properties.ts'

/**
 * `npm run test:fuzz`: files of all forms, damaged ones and bytes of any kind. Ends with 1 and a file that shows it, made
 * as small as it can be, if one is not read to its end, throws, or is read as something else than it says. Options:
 *
 *   --files 100000   how many
 *   --seed 7         other files; the seed is printed, and the same one makes the same files
 */
const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
  },
})
const [files, seed] = [Number(values.files), Number(values.seed)]

const startedAt = performance.now()
let failed = false
console.log(`${files} files, seed ${seed}`)
for (const [name, { property, part }] of Object.entries(PROPERTIES)) {
  const numRuns = Math.round(files * part)
  const result = await fc.check<unknown>(property as fc.IAsyncProperty<unknown>, { numRuns, seed })
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
  console.log(`${result.failed ? 'FAILED' : 'held  '}  ${name}: ${result.numRuns} files, ${seconds} s`)
  if (!result.failed) continue
  failed = true
  console.error(fc.defaultReportMessage(result))
}
process.exit(failed ? 1 : 0)
