import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { BLANK_LINES_FREE, ERRORS_COUNTED_MAX, RECORD_CHARS_MAX } from '../../../../functions/contract/source-limits.ts'
import { readSource } from '../../../../functions/job/staging/read-source.ts'
import { AT_MOST, cutAt, HEADER, linesOf, stageText, verdictsOf } from '../../../support/staging.ts'

/* A file costs by its bytes, whatever is in them. Counted is work (objects, bytes taken), never seconds. */

const ROW = 'KRA012600001,P,A,1\n'

/** Pieces of a file without an end, and how many of them were taken. */
const endless = (head: string, piece: string): { file: Readable; taken: () => number } => {
  let taken = 0
  const pieces = function* (): Generator<Buffer> {
    yield Buffer.from(head)
    for (; taken < 5_000; taken++) yield Buffer.from(piece)
  }
  return { file: Readable.from(pieces(), { highWaterMark: 1 }), taken: () => taken }
}

afterEach(() => vi.restoreAllMocks())

describe('a refused record', () => {
  test.each([
    ['of another width', 'a\n'],
    ['with a trailing comma', 'KRA012600001,P,A,1,\n'],
    ['of one space', ' \n'],
    ['of no value', ',,,\n'],
    ['of wrong values', 'a!,b!,c!,d\n'],
  ])('%s builds no Error with a stack', async (_, line) => {
    const built = vi.spyOn(Error, 'captureStackTrace')
    await stageText(HEADER + ROW + line.repeat(10_000))
    expect(built.mock.calls.length).toBeLessThan(10)
  })

  test('is told with its width, whatever the width of the records before it', async () => {
    const result = await stageText(`${HEADER}a\nb\n${ROW}KRA012600002,P,A,1,2\n`)
    expect(verdictsOf(result)).toEqual(['2:- column-count', '3:- column-count', '5:- column-count'])
  })
})

describe('errors without end', () => {
  test('end the reading, and the report says where', async () => {
    const { file, taken } = endless(HEADER, 'a\n'.repeat(1_000))
    const result = await readSource(file, AT_MOST)
    expect(result).toMatchObject({
      accepted: false,
      rejection: { total: ERRORS_COUNTED_MAX, stoppedAtLine: ERRORS_COUNTED_MAX + 1 },
    })
    expect(taken()).toBeLessThan(ERRORS_COUNTED_MAX / 1_000 + 20)
  })

  test('of one short of the limit are all counted', async () => {
    const limits = { errorsCountedMax: 5 }
    expect(await stageText(HEADER + 'a\n'.repeat(4), AT_MOST, { limits })).toMatchObject({
      rejection: { total: 4, stoppedAtLine: null },
    })
    expect(await stageText(`${HEADER}${ROW}a\n${ROW}${'a\n'.repeat(9)}`, AT_MOST, { limits })).toMatchObject({
      rejection: { total: 5, stoppedAtLine: 8 },
    })
  })
})

describe('blank lines', () => {
  test.each([
    ['empty', '\n'],
    ['of a space', ' \n'],
    ['of CR LF', '\r\n'],
    ['of a zero-width no-break space', '\ufeff\n'],
  ])('%s without end are refused before they are read to it', async (_, line) => {
    const { file, taken } = endless(HEADER + ROW, line.repeat(10_000))
    expect(verdictsOf(await readSource(file, AT_MOST))).toEqual([expect.stringMatching(/^\d+:- blank-lines$/)])
    expect(taken()).toBeLessThan(BLANK_LINES_FREE / 10_000 + 20)
  })

  test('are taken up to the limit, three more for each record, and not one more', async () => {
    const limits = { blankLinesFree: 4, blankLinesPerRecord: 3 }
    const verdict = async (text: string) => (await stageText(text, AT_MOST, { limits })).accepted
    // Four, and three each for the header and the row.
    expect(await verdict(`${HEADER}${ROW}${'\n \n'.repeat(5)}`)).toBe(true)
    expect(await verdict(`${HEADER}${ROW}${'\n \n'.repeat(5)}\n`)).toBe(false)
  })

  test('between all rows, as a converter of line ends leaves them, are none of the file', async () => {
    const rows = Array.from({ length: 200 }, (_, n) => `KRA01260${String(n).padStart(4, '0')},P,A,1\n`).join('')
    const text = (HEADER + rows).replaceAll('\n', '\r\r\n')
    const limits = { blankLinesFree: 0 }
    expect(linesOf(await stageText(text, AT_MOST, { limits }))).toBe(linesOf(await stageText(HEADER + rows)))
  })
})

describe('a line without end', () => {
  test.each([
    ['commas', ','],
    ['letters', 'x'],
    ['NUL bytes', '\0'],
    ['quoted empty values', '"",'],
    ['doubled quotes inside a quote', '""'],
    ['spaces', ' '],
  ])('of %s is refused within a few pieces', async (_, text) => {
    const opened = text === '""' ? '"' : ''
    const { file, taken } = endless(`${HEADER}${ROW}KRA012600002,${opened}`, text.repeat(10_000))
    const verdicts = verdictsOf(await readSource(file, AT_MOST))
    expect(verdicts).toEqual([expect.stringMatching(/^3:(-|\d+) record-length$/)])
    expect(taken()).toBeLessThan(5)
  })

  test('inside quotes, of line breaks, is refused within a few pieces', async () => {
    const { file, taken } = endless(`${HEADER}${ROW}KRA012600002,"`, '\n'.repeat(10_000))
    expect(verdictsOf(await readSource(file, AT_MOST))).toEqual(['3:2 record-length'])
    expect(taken()).toBeLessThan(5)
  })

  test('is found wherever the bytes are cut', async () => {
    const limits = { recordCharsMax: 30, columnsMax: 5 }
    const text = Buffer.from(`${HEADER}${ROW}${','.repeat(200)}`)
    for (let offset = 0; offset <= text.length; offset++) {
      const result = await readSource(cutAt(text, offset), AT_MOST, { limits })
      expect(verdictsOf(result)).toEqual(['3:- record-length'])
    }
  })

  test('may be as long as the longest record that is quoted throughout', async () => {
    const columns = Array.from({ length: 900 }, (_, n) => `"n${n}"`).join(',')
    const names = 'isrc,right_type,party_id,share,'
    const note = '가'.repeat(RECORD_CHARS_MAX - 'KRA012600001PA1'.length)
    const row = `"KRA012600001","P","A","1","${note}"${',""'.repeat(899)}\n`
    expect((await stageText(`${names}${columns}\n${row}`)).accepted).toBe(true)
  })

  test('of more columns than a header may have is refused', async () => {
    const limits = { columnsMax: 6 }
    expect(verdictsOf(await stageText(`isrc,right_type,party_id,share,,,\n${ROW}`, AT_MOST, { limits }))).toContain(
      '1:- record-length',
    )
  })
})

describe('a packed file', () => {
  test('that unpacks to hundreds of times its size is refused after the bytes that are free', async () => {
    const text = `${HEADER}${Array.from({ length: 1_000 }, (_, n) => `KRA01${String(n).padStart(7, '0')},P,A,1,${'x'.repeat(4_000)}\n`).join('')}`
    const packed = gzipSync(text.replace('share', 'share,note'), { level: 9 })
    const limits = { expansionFreeBytes: 1_000_000 }
    expect(text.length / packed.length).toBeGreaterThan(200)
    expect(verdictsOf(await stageText(packed, AT_MOST, { limits }))).toEqual([
      expect.stringContaining('gzip-expansion'),
    ])
    expect((await stageText(packed)).accepted).toBe(true)
    expect((await stageText(packed, AT_MOST, { limits: { ...limits, expansionMax: 1_000 } })).accepted).toBe(true)
  })
})

describe('different values', () => {
  test.each([
    ['party_id', (n: number) => `KRA012600001,P,A${n},1\n`, 3],
    ['right_type', (n: number) => `KRA012600001,P${n},A,1\n`, 2],
  ])('of %s beyond the limit are a rejection', async (field, line, column) => {
    const text = HEADER + Array.from({ length: 20 }, (_, n) => line(n)).join('')
    expect((await stageText(text, AT_MOST, { limits: { distinctMax: 20 } })).accepted).toBe(true)
    const result = await stageText(text, AT_MOST, { limits: { distinctMax: 19 } })
    expect(verdictsOf(result)).toEqual([`21:${column} distinct-values`])
    expect(result).toMatchObject({ rejection: { errors: [{ field }] } })
  })
})
