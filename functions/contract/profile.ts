import { z } from 'zod'
import { ENCODINGS } from './encodings.ts'
import {
  HEADER_NAME_CHARS_MAX,
  HEADER_NAMES_MAX,
  IGNORED_COLUMNS_MAX,
  ROWS_AFTER_DATA_MAX,
  ROWS_BEFORE_HEADER_MAX,
} from './source-limits.ts'

/*
 * How one distributor writes its files. Whatever a profile says, a file becomes the same four columns before any rule
 * is applied: the same rows give the same staged digest in every form. The empty profile is today's canonical file.
 * Whether a file is packed (gzip, zip with one file) is seen in its bytes and no part of a profile.
 * See decisions.md, "A profile turns a file into the four columns, and nothing else".
 */

/** What separates the values of a text: ASCII, and no character that values consist of. */
const Delimiter = z.string().regex(/^[\t !#-/:-@[-`{-~]$/, 'a tab, or one ASCII sign such as ; or |')

const Format = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('csv') }),
    z.strictObject({ kind: z.literal('tsv') }),
    z.strictObject({ kind: z.literal('delimited'), delimiter: Delimiter }),
    /** Without a sheet's name the workbook has one sheet. */
    z.strictObject({ kind: z.literal('xlsx'), sheet: z.string().min(1).max(31).optional() }),
  ])
  .default({ kind: 'csv' })

/** A name as headers are compared: composed, without spaces around it, any run of spaces as one, in lower case. */
export const headerName = (text: string): string => text.normalize('NFC').trim().replace(/\s+/gu, ' ').toLowerCase()

const HeaderName = z
  .string()
  .max(HEADER_NAME_CHARS_MAX)
  .refine((name) => headerName(name) !== '', 'a name that is not blank')

/** The names under which a column may stand in the header. */
const names = (name: string) => z.array(HeaderName).min(1).max(HEADER_NAMES_MAX).default([name])

/** Every row has this right type, and the file has no column for it. */
const ConstantRightType = z.strictObject({
  constant: z.string().regex(/^[A-Za-z0-9_-]{1,20}$/, 'a right type: 1-20 of letters, digits, _ and -'),
})

const Columns = z.strictObject({
  isrc: names('isrc'),
  right_type: z.union([z.array(HeaderName).min(1).max(HEADER_NAMES_MAX), ConstantRightType]).default(['right_type']),
  party_id: names('party_id'),
  share: names('share'),
})

const DECIMAL_SIGNS = ['.', ','] as const
const SHARE_UNITS = ['percent', 'fraction', 'basis-points'] as const

/** The first name that stands for two columns; it would be a guess which of them it is. */
const ambiguousName = ({ columns, ignoredColumns }: Profile): string | undefined => {
  const { isrc, right_type: rightType, party_id: party, share } = columns
  const all = [
    isrc,
    Array.isArray(rightType) ? rightType : [],
    party,
    share,
    ignoredColumns === 'any' ? [] : ignoredColumns,
  ]
  const seen = all.flatMap((names) => [...new Set(names.map(headerName))])
  return seen.find((name, index) => seen.indexOf(name) < index)
}

const Fields = z.strictObject({
  format: Format.describe('Packed or not (gzip, zip with one file) is seen in the file itself.'),
  encoding: z
    .enum(ENCODINGS)
    .default('detected')
    .describe('Of a text. detected: UTF-8, UTF-16 with its mark, or CP949, whichever the bytes are for sure.'),
  rowsBeforeHeader: z
    .int()
    .min(0)
    .max(ROWS_BEFORE_HEADER_MAX)
    .default(0)
    .describe('At most so many rows, blank ones not counted, before the header: the first row that has every column.'),
  columns: Columns.prefault({}).describe('The names of each column in the header, in any case and language.'),
  rowsAfterData: z
    .int()
    .min(0)
    .max(ROWS_AFTER_DATA_MAX)
    .default(0)
    .describe('Exactly so many last rows are no shares, such as totals. A row of shares among them is refused.'),
  decimalSign: z.enum(DECIMAL_SIGNS).default('.'),
  shareUnit: z.enum(SHARE_UNITS).default('percent').describe('A quarter is 25 percent, 0.25 or 2500 basis points.'),
  ignoredColumns: z
    .union([z.literal('any'), z.array(HeaderName).max(IGNORED_COLUMNS_MAX)])
    .default('any')
    .describe('any: further columns are ignored and named. A list: a further column that is not in it is refused.'),
})

/** A profile with everything in it that was left out. */
export type Profile = z.output<typeof Fields>

export const Profile = Fields.superRefine((profile, context) => {
  const name = ambiguousName(profile)
  if (name !== undefined)
    context.addIssue({ code: 'custom', path: ['columns'], message: `${JSON.stringify(name)} names two columns` })
})

/** How a share is written. */
export type ShareForm = Pick<Profile, 'decimalSign' | 'shareUnit'>

/** CSV with the four columns under their own names: what a distributor without a profile sends. */
export const CANONICAL: Profile = Profile.parse({})

/** What separates the values of a text; undefined for a workbook. */
export const delimiterOf = ({ format }: Profile): string | undefined => {
  switch (format.kind) {
    case 'csv':
      return ','
    case 'tsv':
      return '\t'
    case 'delimited':
      return format.delimiter
    case 'xlsx':
      return undefined
  }
}

/** A profile as people write and read it: what is as in the canonical one is left out. */
export const profileDocument = (profile: Profile): Partial<Profile> =>
  Object.fromEntries(
    Object.entries(profile).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(CANONICAL[field as keyof Profile]),
    ),
  )
