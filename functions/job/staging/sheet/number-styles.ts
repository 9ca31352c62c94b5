import { walkXml } from './xml.ts'

/** How a number is shown, as far as it says what its writer meant. */
export type NumberStyle = 'plain' | 'date' | 'percent'

/** Excel's own formats (ECMA-376, 18.8.30), of which a file has the number only; 27 to 36 and 50 to 58 are East Asian. */
const BUILT_IN_DATES: readonly (readonly [number, number])[] = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
]
const BUILT_IN_PERCENTS = [9, 10]

/** Texts, colours and signs that are shown as they are; what is left of a format are its own letters. */
const SHOWN_AS_IS = /"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi

/** What a format code shows: only its first part, which is for positive numbers. */
const styleOfCode = (code: string): NumberStyle => {
  const [first = ''] = code.replace(SHOWN_AS_IS, '').split(';')
  if (/^general$/i.test(first.trim())) return 'plain'
  if (first.includes('%')) return 'percent'
  return /[dmhys]/i.test(first) ? 'date' : 'plain'
}

const styleOf = (id: number, codes: ReadonlyMap<number, string>): NumberStyle => {
  const code = codes.get(id)
  if (code !== undefined) return styleOfCode(code)
  if (BUILT_IN_PERCENTS.includes(id)) return 'percent'
  return BUILT_IN_DATES.some(([from, to]) => from <= id && id <= to) ? 'date' : 'plain'
}

/** Reads how numbers are shown: by the number of a cell's style. */
export const readNumberStyles = async (bytes: AsyncIterable<Buffer>): Promise<NumberStyle[]> => {
  const codes = new Map<number, string>()
  const ids: number[] = []
  let inCellFormats = false
  await walkXml(bytes, {
    onOpen: (name, { numFmtId, formatCode }) => {
      if (name === 'numFmt') codes.set(Number(numFmtId), formatCode ?? '')
      else if (name === 'cellXfs') inCellFormats = true
      else if (name === 'xf' && inCellFormats) ids.push(Number(numFmtId ?? 0))
    },
    onClose: (name) => {
      if (name === 'cellXfs') inCellFormats = false
    },
  })
  return ids.map((id) => styleOf(id, codes))
}
