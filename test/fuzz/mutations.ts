import fc from 'fast-check'
import type { Form } from './forms.ts'

/* Damage to a file, and what a plain text says after it, read in the simplest way. */

type Mutation =
  | { readonly kind: 'flip'; readonly at: number; readonly bits: number }
  | { readonly kind: 'cut'; readonly at: number; readonly length: number }
  | { readonly kind: 'repeat'; readonly at: number; readonly length: number }
  | { readonly kind: 'insert'; readonly at: number; readonly text: string }

const at = fc.nat(1_000_000)
const PIECES = [',', '"', '\n', '\r', '\0', '=', '0', '.', 'e', ' ', '\u200b', '-', '<c>', '</row>', '&', '%', '1']

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at, bits: fc.integer({ min: 1, max: 255 }) }),
  fc.record({ kind: fc.constant('cut' as const), at, length: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ kind: fc.constant('repeat' as const), at, length: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ kind: fc.constant('insert' as const), at, text: fc.constantFrom(...PIECES) }),
)

export const mutationArbitrary = fc.array(mutation, { minLength: 1, maxLength: 3 })

const changed = (bytes: Buffer, change: Mutation): Buffer => {
  const place = change.at % (bytes.length + 1)
  const [head, tail] = [bytes.subarray(0, place), bytes.subarray(place)]
  switch (change.kind) {
    case 'flip': {
      const copy = Buffer.from(bytes)
      if (place < copy.length) copy[place] = (copy[place] ?? 0) ^ change.bits
      return copy
    }
    case 'cut':
      return Buffer.concat([head, tail.subarray(change.length)])
    case 'repeat':
      return Buffer.concat([head, tail.subarray(0, change.length), tail])
    case 'insert':
      return Buffer.concat([head, Buffer.from(change.text), tail])
  }
}

export const mutated = (bytes: Buffer, changes: readonly Mutation[]): Buffer => changes.reduce(changed, bytes)

const CANONICAL_NAMES = 'isrc,right_type,party_id,share'

/** `7.5` as `7.500000`. */
const sixDecimals = (text: string): string => {
  const [whole = '', fraction = ''] = text.split('.')
  return `${whole.replace(/^0+(?=\d)/, '')}.${fraction.slice(0, 6).padEnd(6, '0')}`
}

/**
 * The staged lines of a text that is simple enough to be read by splitting it: commas, no quotes, percentages with a
 * point. Undefined where it is not: then only that it is read to an end is looked at.
 */
export const plainLines = (bytes: Buffer, form: Form): string[] | undefined => {
  const text = bytes.toString('latin1')
  const isSimple = form.format.kind === 'csv' && form.encoding === 'utf-8' && !/["\0]/.test(text)
  if (!isSimple || form.decimalSign !== '.' || form.shareUnit !== 'percent' || form.constantRightType) return undefined
  if (form.koreanNames || form.rowsBefore + form.rowsAfter > 0) return undefined
  const [head = [], ...rows] = text
    .split(/\r\n|\r|\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => line.split(',').map((value) => value.replace(/^[ \t]+|[ \t]+$/g, '')))
  const names = head.map((name) => name.toLowerCase())
  const places = CANONICAL_NAMES.split(',').map((name) => names.indexOf(name))
  return rows
    .map((values) => {
      const [isrc = '', rightType = '', party = '', share = ''] = places.map((place) => values[place] ?? '')
      const code = isrc.replace(/[ -]/g, '').toUpperCase()
      return [code.slice(-12), rightType.toUpperCase(), party, sixDecimals(share)].join('\t')
    })
    .toSorted()
}
