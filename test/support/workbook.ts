import type { z } from 'zod'
import { Profile } from '../../functions/contract/profile.ts'
import type { ReadOptions, ReadResult } from '../../functions/job/staging/read-source.ts'
import { readSource } from '../../functions/job/staging/read-source.ts'
import { type ZipEntry, zipOf } from '../../local/zip-file.ts'
import { AT_MOST, cutAt } from './staging.ts'

/* Workbooks as XML, so that they may hold what no program writes. */

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

export type WorkbookParts = {
  /** The XML inside `sheetData` of each sheet, by its name. */
  readonly sheets: Readonly<Record<string, string>>
  /** The XML of each `si`. */
  readonly strings?: readonly string[]
  /** Format codes; the style of number n + 1 is the code at n. */
  readonly formats?: readonly string[]
  readonly hidden?: readonly string[]
  readonly from1904?: boolean
  /** Instead of the parts of that name, or beside them. */
  readonly parts?: readonly ZipEntry[]
}

export const sheetXml = (data: string): string =>
  `${XML}<worksheet xmlns="${MAIN}"><sheetData>${data}</sheetData></worksheet>`

const stylesXml = (formats: readonly string[]): string => {
  const codes = formats.map(
    (code, n) => `<numFmt numFmtId="${170 + n}" formatCode="${code.replaceAll('"', '&quot;')}"/>`,
  )
  const xfs = formats.map((_, n) => `<xf numFmtId="${170 + n}"/>`)
  return `${XML}<styleSheet xmlns="${MAIN}"><numFmts>${codes.join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${xfs.join('')}</cellXfs></styleSheet>`
}

export const workbookOf = (workbook: WorkbookParts): Buffer => {
  const { sheets, strings, formats = [], hidden = [], from1904 = false, parts = [] } = workbook
  const names = Object.keys(sheets)
  const sheet = (name: string, n: number): string =>
    `<sheet name="${name}" sheetId="${n + 1}" r:id="rId${n + 1}"${hidden.includes(name) ? ' state="hidden"' : ''}/>`
  const relation = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`
  const relations = [
    ...names.map((_, n) => relation(`rId${n + 1}`, 'worksheet', `worksheets/sheet${n + 1}.xml`)),
    relation('rIdT', 'styles', '/xl/styles.xml'),
    ...(strings === undefined && !parts.some(({ name }) => name === 'xl/sharedStrings.xml')
      ? []
      : [relation('rIdS', 'sharedStrings', 'sharedStrings.xml')]),
  ]
  const entries: ZipEntry[] = [
    { name: '[Content_Types].xml', bytes: `${XML}<Types/>` },
    {
      name: 'xl/workbook.xml',
      bytes: `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><workbookPr date1904="${from1904 ? 1 : 0}"/><sheets>${names.map(sheet).join('')}</sheets></workbook>`,
    },
    { name: 'xl/_rels/workbook.xml.rels', bytes: `${XML}<Relationships>${relations.join('')}</Relationships>` },
    { name: 'xl/styles.xml', bytes: stylesXml(formats) },
    ...names.map((name, n) => ({ name: `xl/worksheets/sheet${n + 1}.xml`, bytes: sheetXml(sheets[name] ?? '') })),
    ...(strings === undefined
      ? []
      : [
          {
            name: 'xl/sharedStrings.xml',
            bytes: `${XML}<sst xmlns="${MAIN}">${strings.map((si) => `<si>${si}</si>`).join('')}</sst>`,
          },
        ]),
  ]
  const replaced = new Set(parts.map(({ name }) => name))
  return zipOf(...entries.filter(({ name }) => !replaced.has(name)), ...parts)
}

/** A cell with a text of its own. */
export const text = (value: string): string => `<c t="inlineStr"><is><t xml:space="preserve">${value}</t></is></c>`
export const number = (value: string, style = 0): string => `<c s="${style}"><v>${value}</v></c>`
export const row = (...cells: readonly string[]): string => `<row>${cells.join('')}</row>`

export const HEADER_ROW = row(...['isrc', 'right_type', 'party_id', 'share'].map(text))

export const readWorkbookFile = (
  bytes: Buffer,
  profile: z.input<typeof Profile> = {},
  options: ReadOptions = {},
): Promise<ReadResult> =>
  readSource(cutAt(bytes), AT_MOST, {
    ...options,
    profile: Profile.parse({ ...profile, format: profile.format ?? { kind: 'xlsx' } }),
  })
