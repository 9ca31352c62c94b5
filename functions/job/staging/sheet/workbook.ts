import { posix } from 'node:path'
import { SHEET_PART_BYTES_MAX } from '../../../contract/source-limits.ts'
import { quoted } from '../../../contract/visible.ts'
import { bounded } from '../containers/byte-stream.ts'
import { SourceUnreadable } from '../containers/source-unreadable.ts'
import type { ZipArchive } from '../containers/zip-archive.ts'
import { type Attributes, walkXml } from './xml.ts'

/** A sheet's name and the part that holds its cells. */
type Sheet = { readonly name: string; readonly part: string; readonly isShown: boolean }

/** What a workbook says about its parts. */
export type Workbook = {
  readonly sheets: readonly Sheet[]
  readonly from1904: boolean
  /** Undefined where no cell needs them. */
  readonly stringsPart: string | undefined
  readonly stylesPart: string | undefined
}

const WORKBOOK = 'xl/workbook.xml'
const RELATIONS = 'xl/_rels/workbook.xml.rels'

/** Sheets that are named in a sentence. */
const SHEETS_SHOWN = 5

/** A part of a workbook that is small in every honest one. */
export const smallPart = (archive: ZipArchive, part: string): AsyncGenerator<Buffer> =>
  bounded(archive.read(part), SHEET_PART_BYTES_MAX, 'sheet-bytes')

type Relation = { readonly type: string; readonly part: string }

/** The parts that a workbook refers to, by the id of the reference. */
const readRelations = async (archive: ZipArchive): Promise<Map<string, Relation>> => {
  const relations = new Map<string, Relation>()
  await walkXml(smallPart(archive, RELATIONS), {
    onOpen: (name, { Id, Type = '', Target = '' }) => {
      if (name !== 'Relationship' || Id === undefined) return
      // A target is a path from the workbook's folder, or from the archive's root.
      const part = Target.startsWith('/') ? Target.slice(1) : posix.join('xl', Target)
      relations.set(Id, { type: Type.slice(Type.lastIndexOf('/') + 1), part })
    },
  })
  return relations
}

/** The id of a reference, whatever prefix its namespace has. */
const referenceOf = (attributes: Attributes): string | undefined => {
  const name = Object.keys(attributes).find((key) => key.endsWith(':id'))
  return name === undefined ? undefined : attributes[name]
}

export const readWorkbook = async (archive: ZipArchive): Promise<Workbook> => {
  const relations = await readRelations(archive)
  // A part that is referred to and is not there is never left out: without its styles a date would be a number.
  const partOf = (type: string): string | undefined =>
    [...relations.values()].find((relation) => relation.type === type)?.part
  const sheets: Sheet[] = []
  let from1904 = false
  await walkXml(smallPart(archive, WORKBOOK), {
    onOpen: (element, attributes) => {
      if (element === 'workbookPr') from1904 = ['1', 'true'].includes(attributes.date1904 ?? '')
      if (element !== 'sheet') return
      const relation = relations.get(referenceOf(attributes) ?? '')
      // Charts and macros are sheets too, and hold no cells.
      if (relation?.type !== 'worksheet') return
      const { name = '', state = 'visible' } = attributes
      sheets.push({ name, part: relation.part, isShown: state === 'visible' })
    },
  })
  return { sheets, from1904, stringsPart: partOf('sharedStrings'), stylesPart: partOf('styles') }
}

const named = (sheets: readonly Sheet[]): string => {
  const left = sheets.length - SHEETS_SHOWN
  const shown = sheets.slice(0, SHEETS_SHOWN).map(({ name }) => quoted(name))
  return left > 0 ? `${shown.join(', ')} and ${left} more` : shown.join(', ')
}

/** Hangul is written composed by some systems and decomposed by others. */
const sameName = (a: string, b: string): boolean => a.normalize('NFC') === b.normalize('NFC')

/** The sheet of that name, which may be hidden; without a name the only one that is shown. */
export const chooseSheet = ({ sheets }: Workbook, name: string | undefined): Sheet => {
  const candidates = sheets.filter((sheet) => (name === undefined ? sheet.isShown : sameName(sheet.name, name)))
  const [sheet, ...more] = candidates
  if (sheet === undefined) {
    const wanted = name === undefined ? 'no sheet is shown' : `wanted: ${quoted(name)}; there: ${named(sheets)}`
    throw new SourceUnreadable('sheet-missing', { seen: wanted })
  }
  if (more.length > 0) throw new SourceUnreadable('sheet-choice', { seen: named(candidates) })
  return sheet
}
