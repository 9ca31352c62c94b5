import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'
import { Profile } from '../../../../../functions/contract/profile.ts'
import { recordReader } from '../../../../../functions/job/staging/file-records.ts'
import { READ_LIMITS } from '../../../../../functions/job/staging/read-limits.ts'
import { SourceErrors } from '../../../../../functions/job/staging/source-errors.ts'
import { unknownFormat } from '../../../../../functions/job/staging/source-format.ts'
import { cutAt } from '../../../../support/staging.ts'

/* Each decoder beside an independent one: what Python read from the same bytes, see make-vectors.py. */

type Cell = readonly [kind: string, text: string]
type Vectors = {
  readonly texts: readonly { name: string; file: string; delimiter: string; records: string[][] | null }[]
  readonly sheets: readonly { name: string; file: string; records: (readonly [number, Cell[]])[] | null }[]
  readonly codePages: readonly { name: string; leftOut: string[]; digests: string[] }[]
}
const vectors = JSON.parse(readFileSync(join(import.meta.dirname, 'vectors.json'), 'utf8')) as Vectors

type Read = { fields: string[]; line: number; kinds: readonly string[] }

/** What our readers make of a file, without any rule about its values; null where they refuse it. */
const read = async (file: string, profile: Profile): Promise<Read[] | null> => {
  const errors = new SourceErrors(100, 100_000)
  const format = unknownFormat()
  const records: Read[] = []
  const bytes = Buffer.from(file, 'base64')
  await recordReader(profile, READ_LIMITS, format)(cutAt(bytes, bytes.length >> 1), errors, (fields, line, kinds) => {
    records.push({ fields, line, kinds: kinds ?? fields.map(() => 'text') })
  })
  return errors.total > 0 ? null : records
}

describe('text', () => {
  test.each(vectors.texts)('$name', async ({ file, delimiter, records }) => {
    const profile = Profile.parse({ format: { kind: 'delimited', delimiter } })
    const found = await read(file, profile)
    // Python takes a quote inside a value that does not begin with one for a letter; RFC 4180 has no such value.
    if (found === null && records?.flat().some((value) => value.includes('"'))) return
    expect(found?.map(({ fields }) => fields) ?? null).toEqual(records)
  })
})

describe('sheets', () => {
  /** Python tells a number that is shown as per cent from no other, and gives a date another text. */
  const comparable = (kind: string, text: string): Cell => {
    if (kind === 'date') return ['date', '']
    return [kind === 'percent' || kind === 'long-number' ? 'number' : kind, text]
  }

  test.each(vectors.sheets)('$name', async ({ file, records }) => {
    const found = await read(file, Profile.parse({ format: { kind: 'xlsx' } }))
    const rows = found?.map(({ fields, line, kinds }) => [
      line,
      fields.map((text, at) => comparable(kinds[at] ?? 'text', text)),
    ])
    expect(rows ?? null).toEqual(records)
  })
})

describe('code pages', () => {
  test.each(vectors.codePages)(
    '$name has the same characters for every one and two bytes',
    ({ name, leftOut, digests }) => {
      const line = (bytes: Buffer): string => {
        const decoder = iconv.getDecoder(name)
        const text = decoder.write(bytes) + (decoder.end() ?? '')
        const points = [...text].map((character) => (character.codePointAt(0) ?? 0).toString(16)).join(' ')
        return `${bytes.toString('hex')} ${/[\ufffd\p{Co}]/u.test(text) ? '!' : points}`
      }
      digests.forEach((digest, n) => {
        const lead = 0x80 + n
        const trails = Array.from({ length: 0xe0 }, (_, at) => Buffer.from([lead, 0x20 + at]))
        const lines = [Buffer.from([lead]), ...trails]
          .filter((bytes) => !leftOut.some((begin) => bytes.toString('hex').startsWith(begin)))
          .map(line)
        const found = createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16)
        expect(found, `lead byte ${lead.toString(16)}`).toBe(digest)
      })
    },
  )
})
