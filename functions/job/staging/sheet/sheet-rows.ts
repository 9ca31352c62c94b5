import { SHEET_COLUMNS_END, SHEET_ROWS_END } from '../../../contract/source-limits.ts'
import { SourceUnreadable } from '../containers/source-unreadable.ts'
import { type CellContext, type CellKind, cellValue } from './cell-value.ts'
import { CellText } from './shared-strings.ts'
import type { Attributes, XmlVisitor } from './xml.ts'

/**
 * One row of a sheet that is not blank. `fields[0]` is column A; blank cells at the end are left out. Without `kinds` all
 * of them are texts. `isTooWide`: something is to the right of the last column that is read.
 */
export type SheetRow = {
  readonly row: number
  readonly fields: string[]
  readonly kinds: CellKind[] | undefined
  readonly isTooWide: boolean
}

export type SheetLimits = { readonly columnsMax: number; readonly cellsMax: number }

const CELL = /^([A-Z]{1,3})([0-9]{1,7})$/

/** The number of a column from its letters: 1 for A, 27 for AA. */
const columnNumber = (letters: string): number => {
  let number = 0
  for (let at = 0; at < letters.length; at++) number = number * 26 + letters.charCodeAt(at) - 64
  return number
}

const damaged = (seen: string): SourceUnreadable => new SourceUnreadable('sheet-damaged', { seen })

/** Walks through a sheet's XML and gives its rows, one after the other, in their order. */
export class SheetRows implements XmlVisitor {
  /** The row to which the walk has come; 0 before the first. */
  row = 0
  #column = 0
  #cells = 0
  #fields: string[] = []
  #kinds: CellKind[] = []
  #hasKinds = false
  #isTooWide = false
  #type = 'n'
  #style = 0
  #hasFormula = false
  #inValue = false
  #inPhonetic = false
  readonly #text = new CellText()
  readonly #context: CellContext
  readonly #limits: SheetLimits
  readonly #onRow: (row: SheetRow) => void

  constructor(context: CellContext, limits: SheetLimits, onRow: (row: SheetRow) => void) {
    this.#context = context
    this.#limits = limits
    this.#onRow = onRow
  }

  readonly onOpen = (name: string, attributes: Attributes): void => {
    switch (name) {
      case 'row':
        this.#beginRow(attributes)
        break
      case 'c':
        this.#beginCell(attributes)
        break
      case 'f':
        this.#hasFormula = true
        break
      case 'rPh':
        this.#inPhonetic = true
        break
      case 'v':
        this.#inValue = true
        break
      case 't':
        this.#inValue = this.#type === 'inlineStr' && !this.#inPhonetic
        break
    }
  }

  readonly onText = (piece: string): void => {
    if (this.#inValue) this.#text.add(piece)
  }

  readonly onClose = (name: string): void => {
    if (name === 'v' || name === 't') this.#inValue = false
    else if (name === 'rPh') this.#inPhonetic = false
    else if (name === 'c') this.#endCell()
    else if (name === 'row') this.#endRow()
  }

  /** Rows and cells may leave their place out: then each comes behind the one before it. */
  #beginRow({ r }: Attributes): void {
    const row = r === undefined ? this.row + 1 : Number(r)
    if (!Number.isInteger(row) || row <= this.row || row >= SHEET_ROWS_END) throw damaged(`row ${r} in a wrong place`)
    this.row = row
    this.#column = 0
    this.#fields = []
    this.#kinds = []
    this.#hasKinds = false
    this.#isTooWide = false
  }

  #beginCell({ r, t = 'n', s }: Attributes): void {
    this.#cells += 1
    if (this.#cells > this.#limits.cellsMax) throw new SourceUnreadable('sheet-cells')
    const column = r === undefined ? this.#column + 1 : this.#columnOf(r)
    if (column <= this.#column || column >= SHEET_COLUMNS_END) throw damaged(`cell ${r} in a wrong place`)
    this.#column = column
    this.#type = t
    this.#style = s === undefined ? 0 : Number(s)
    this.#hasFormula = false
  }

  #columnOf(r: string): number {
    const parts = CELL.exec(r)
    if (parts === null || Number(parts[2]) !== this.row) throw damaged(`cell ${r} in row ${this.row}`)
    return columnNumber(parts[1] ?? '')
  }

  #endCell(): void {
    const stored = { type: this.#type, style: this.#style, value: this.#text.take(), hasFormula: this.#hasFormula }
    const { text, kind } = cellValue(stored, this.#context)
    if (text === '' && kind === 'text') return
    if (this.#column > this.#limits.columnsMax) {
      this.#isTooWide = true
      return
    }
    while (this.#fields.length < this.#column - 1) {
      this.#fields.push('')
      this.#kinds.push('text')
    }
    this.#fields.push(text)
    this.#kinds.push(kind)
    this.#hasKinds ||= kind !== 'text'
  }

  #endRow(): void {
    const isBlank = !this.#hasKinds && this.#fields.every((field) => field.trim() === '')
    if (isBlank && !this.#isTooWide) return
    const kinds = this.#hasKinds ? this.#kinds : undefined
    this.#onRow({ row: this.row, fields: this.#fields, kinds, isTooWide: this.#isTooWide })
  }
}
