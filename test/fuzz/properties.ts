import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { Profile } from '../../functions/contract/profile.ts'
import { type ReadResult, readSource } from '../../functions/job/staging/read-source.ts'
import { AT_MOST, cutAt, linesOf } from '../support/staging.ts'
import { fileOf, formArbitrary, isChecked, profileOf, rowsOf } from './forms.ts'
import { mutated, mutationArbitrary, plainLines } from './mutations.ts'
import { shareRows, stagedLines } from './rows.ts'

/* What must hold of any file: it is read to an end, nothing is thrown, and no value is changed without a word. */

/** Longer than any small file takes on a busy machine: who is not done by then hangs. */
const HANG_MS = 60_000

const read = async (bytes: Buffer, profile: Profile, cuts: readonly number[]): Promise<ReadResult> => {
  const places = cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b)
  const ended = new AbortController()
  const hang = wait(HANG_MS, undefined, { signal: ended.signal }).then(
    () => {
      throw new Error(`a file of ${bytes.length} bytes is not read to an end`)
    },
    () => new Promise<never>(() => undefined),
  )
  try {
    return await Promise.race([readSource(cutAt(bytes, ...places), AT_MOST, { profile }), hang])
  } finally {
    ended.abort()
  }
}

const sortedLines = (result: ReadResult): string[] => linesOf(result).trimEnd().split('\n').toSorted()

const cuts = fc.array(fc.nat(1_000_000), { maxLength: 6 })

const same = (found: readonly string[], wanted: readonly string[]): boolean => found.join('\n') === wanted.join('\n')

/** The same rows are staged from every form of the file. */
const everyForm = fc.asyncProperty(shareRows, formArbitrary, cuts, async (rows, form, places) => {
  const held = rowsOf(form, rows)
  const result = await read(fileOf(form, held), profileOf(form), places)
  if (!result.accepted) throw new Error(JSON.stringify(result.rejection.errors[0]))
  if (!same(sortedLines(result), stagedLines(held))) throw new Error(`other rows: ${sortedLines(result).join('\n')}`)
})

/** A damaged file is refused, or it is what it was; a damaged text is refused, or it is read as it stands there. */
const damage = fc.asyncProperty(
  shareRows,
  formArbitrary,
  mutationArbitrary,
  cuts,
  async (rows, form, changes, places) => {
    const held = rowsOf(form, rows)
    const bytes = mutated(fileOf(form, held), changes)
    const result = await read(bytes, profileOf(form), places)
    if (!result.accepted) {
      if (result.rejection.total === 0) throw new Error('refused without a reason')
      return
    }
    const wanted = isChecked(form) ? stagedLines(held) : plainLines(bytes, form)
    if (wanted !== undefined && !same(sortedLines(result), wanted))
      throw new Error(`read as\n${sortedLines(result).join('\n')}\nand it is\n${wanted.join('\n')}`)
  },
)

const BEGINNINGS = [
  '',
  'PK\x03\x04',
  '\x1f\x8b\x08',
  '\xff\xfe',
  '\xef\xbb\xbf',
  'isrc,right_type,party_id,share\n',
  '<?xml',
  '="',
]
const XLSX = Profile.parse({ format: { kind: 'xlsx' } })
const TEXT = Profile.parse({})

/** Bytes of any kind are refused with a reason. */
const anything = fc.asyncProperty(
  fc.constantFrom(...BEGINNINGS),
  fc.uint8Array({ maxLength: 300 }),
  fc.constantFrom(TEXT, XLSX),
  cuts,
  async (begin, rest, profile, places) => {
    const result = await read(Buffer.concat([Buffer.from(begin, 'latin1'), rest]), profile, places)
    if (!result.accepted && result.rejection.total === 0) throw new Error('refused without a reason')
  },
)

/** Each with its part of all files. */
export const PROPERTIES = {
  'the same rows in every form': { property: everyForm, part: 0.45 },
  'damaged files': { property: damage, part: 0.45 },
  'bytes of any kind': { property: anything, part: 0.1 },
} as const
