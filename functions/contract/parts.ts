import { z } from 'zod'
import { Digest } from './manifest.ts'
import { PARTS_MAX } from './source-limits.ts'

/** The sum of a part's shares, as percentages and as people write it: `4000000` or `33.5`. */
const WrittenSum = z.string().regex(/^\d{1,14}(\.\d{1,6})?$/, 'a sum of shares in percent, e.g. "4000000.5"')

const Part = z.strictObject({
  /** A file in the descriptor's own folder. */
  name: z.string().regex(/^(?!\.{1,2}$)[^/\\\p{Cc}]{1,200}$/u, 'the name of a file in the same folder'),
  rows: z.int().min(1),
  shareSum: WrittenSum,
  /** Of the file as it was uploaded, packed or not. */
  sha256: Digest.optional(),
})
export type Part = z.infer<typeof Part>

/** The file of a month in several parts: it names them, and what each must come to. It is uploaded last. */
export const PartsDescriptor = z
  .strictObject({ version: z.literal(1), parts: z.array(Part).min(1).max(PARTS_MAX) })
  .refine(({ parts }) => new Set(parts.map(({ name }) => name)).size === parts.length, 'parts names no file twice')
export type PartsDescriptor = z.infer<typeof PartsDescriptor>

/** How the key of a descriptor ends, for the schedule and in commands. */
export const PARTS_ENDING = 'parts.json' as const

/** The key of a part: beside its descriptor. */
export const partKey = (descriptorKey: string, name: string): string =>
  `${descriptorKey.slice(0, descriptorKey.lastIndexOf('/') + 1)}${name}`

/** A written sum as exact decimal text with six decimals. */
export const sixDecimals = (sum: string): string => {
  const [whole = '', decimals = ''] = sum.split('.')
  return `${whole.replace(/^0+(?=\d)/, '')}.${decimals.padEnd(6, '0')}`
}
