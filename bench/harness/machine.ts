import { readFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../../local/host/paths.ts'
import type { Machine } from './result.ts'

const GIB = 2 ** 30

/** The version of an npm package as it is installed. */
export const packageVersion = (name: string): string =>
  (JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')) as { version: string }).version

/** This machine and its runtime; sections add the servers and peers they use. */
export const machine = (): Machine => {
  const processors = cpus()
  return {
    machine: `${processors.length} x ${processors[0]?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / GIB)} GiB`,
    node: process.version.slice(1),
    // Above the number of processors, others were at work: ratios still hold, rates and times do not.
    'load average': (loadavg()[0] ?? 0).toFixed(1),
  }
}
