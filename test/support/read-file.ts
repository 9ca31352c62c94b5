import { createReadStream, readFileSync } from 'node:fs'
import { Profile } from '../../functions/contract/profile.ts'
import { readSource } from '../../functions/job/staging/read-source.ts'
import { AT_MOST } from './staging.ts'

/* Reads a file in a process of its own, whose memory is its own: `node read-file.ts PATH csv|xlsx`. */

/** What a file came to: its rules, or the rows of an accepted one, and the most memory that it took. */
export type FileRead = { readonly rules: readonly string[]; readonly rows: number; readonly rssMb: number }

const [path = '', kind] = process.argv.slice(2)
const profile = Profile.parse({ format: { kind } })
const result = await readSource(createReadStream(path), AT_MOST, { profile })
const rules = result.accepted ? [] : result.rejection.errors.map(({ rule }) => rule)
const rows = result.accepted ? result.source.manifest.rows : 0
// Of this program alone: the maximum that the system tells of a process begins with that of its parent.
const peakKb = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
const read: FileRead = { rules: [...new Set(rules)], rows, rssMb: peakKb / 1_024 }
process.stdout.write(JSON.stringify(read))
