import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Profile } from '../../../../functions/contract/profile.ts'
import { withQuotedFormulas } from '../../../../functions/job/staging/formula-text.ts'
import { readSource } from '../../../../functions/job/staging/read-source.ts'
import { AT_MOST, cutAt, errorsOf, HEADER, linesOf, stageText, verdictsOf } from '../../../support/staging.ts'

/* What a refusal tells its reader, who has the file and not the code. */

const firstOf = async (text: string | Buffer): Promise<string> => {
  const [error] = errorsOf(await stageText(text))
  return `${error?.rule}: ${error?.message}`
}

describe('a formula around a value', () => {
  const text =
    `${HEADER}KRA012600001,P,="00014107338",1\n="KRA012600002",P,A,1\nKRA012600003,P,"=""B""",1\n` +
    'KRA012600004,P,A!,1\r\nKRA012600005,P,="a",="1"'

  test('is told as Excel, and the lines behind it are read', async () => {
    const verdicts = ['2:3 excel-formula', '3:1 excel-formula', '4:3 excel-formula', '5:3 party-format']
    const last = ['6:3 excel-formula', '6:4 excel-formula']
    for (let offset = 0; offset <= text.length; offset++)
      expect(verdictsOf(await readSource(cutAt(Buffer.from(text), offset), AT_MOST))).toEqual([...verdicts, ...last])
    expect(await firstOf(text)).toBe(
      'excel-formula: party_id "=\\"00014107338\\"" is a formula of Excel around the value; export the column as text, without = and quotes around it',
    )
  })

  test('is told in the header, and separated by the sign of the profile', async () => {
    expect(verdictsOf(await stageText('="isrc",right_type,party_id,share\n'))).toEqual(['1:1 excel-formula'])
    const profile = Profile.parse({ format: { kind: 'delimited', delimiter: ';' } })
    const semicolons = text.replaceAll(',', ';')
    const result = await readSource(cutAt(Buffer.from(semicolons)), AT_MOST, { profile })
    expect(verdictsOf(result)).toHaveLength(6)
  })

  test('in a column that nobody needs is no error', async () => {
    const result = await stageText('note,isrc,right_type,party_id,share\n="a, b",KRA012600001,P,A,1\n')
    // Other programs read two values there.
    expect(verdictsOf(result)).toEqual([expect.stringMatching(/^2:\d stray-quote$/)])
    expect(linesOf(await stageText('note,isrc,right_type,party_id,share\n="07",KRA012600001,P,A,1\n'))).toContain('KRA')
  })

  test('is the only thing that quoting it changes', async () => {
    const value = fc.string({ unit: fc.constantFrom('=', '"', ',', '\n', '\r', 'a', '가', ' ') })
    const quoted = value.map((text) => `"${text.replaceAll('"', '""')}"`)
    const plain = fc.string({ unit: fc.constantFrom('=', 'a', '가', ' ') })
    const file = fc
      .array(fc.array(fc.oneof(quoted, plain), { minLength: 1, maxLength: 4 }), { maxLength: 6 })
      .map((rows) => rows.map((cells) => cells.join(',')).join('\r\n'))
    await fc.assert(
      fc.asyncProperty(file, fc.array(fc.nat(200), { maxLength: 5 }), async (csv, cuts) => {
        const bytes = Buffer.from(csv)
        const places = cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b)
        const pieces = (await cutAt(bytes, ...places).toArray()) as Buffer[]
        const read = await Readable.from(withQuotedFormulas(Readable.from(pieces), ',')).toArray()
        expect(Buffer.concat(read as Buffer[]).toString()).toBe(csv)
      }),
      { numRuns: 500, seed: 15 },
    )
  })
})

describe('what cannot be seen is named', () => {
  test.each([
    ['a zero-width space', 'KOMCA\u200b.1', 'U+200B'],
    ['a non-breaking space', 'KOMCA\u00a01', 'U+00A0'],
    ['a non-breaking hyphen', 'KOMCA\u20111', 'U+2011'],
    ['a narrow space', 'KOMCA\u202f1', 'U+202F'],
    ['a byte order mark', '\ufeffKOMCA', 'U+FEFF'],
    ['two of them', '\u200bKOMCA\u00ad\u200b', 'U+200B, U+00AD'],
    ['one beyond the first plane', 'A\u{e0041}', 'U+E0041'],
  ])('in a value: %s', async (_, party, points) => {
    const shown = await firstOf(`${HEADER}KRA012600001,P,${party},1\n`)
    expect(shown).toMatch(/^hidden-character: party_id "/)
    expect(shown).toContain(`(${points})`)
    expect(shown).not.toMatch(/[\u00a0\u00ad\u200b\u2011\u202f\ufeff]/)
  })

  test('in each of the columns', async () => {
    const row = 'KRA01\u20112600001,P\u200b,A\u200b,1\u202f\n'
    const verdicts = [1, 2, 3, 4].map((column) => `2:${column} hidden-character`)
    expect(verdictsOf(await stageText(HEADER + row))).toEqual(verdicts)
  })

  test('in the header', async () => {
    const shown = await firstOf('is\u200brc,right_type,party_id,share\nKRA012600001,P,A,1\n')
    expect(shown).toMatch(/^hidden-character: the column "is\\u200brc" has a character.*\(U\+200B\)$/)
  })
})

describe('another separator than was expected is named', () => {
  test.each([
    ['tabs', '\t'],
    ['semicolons', ';'],
    ['pipes', '|'],
  ])('%s where commas were', async (name, sign) => {
    const text = `${HEADER}KRA012600001,P,A,"1"\n`.replaceAll(',', sign)
    for (const bytes of [Buffer.from(text), Buffer.from(`\ufeff${text}`, 'utf16le')])
      expect(await firstOf(bytes)).toMatch(
        new RegExp(`^delimiter: the header .* \\(seen: ${name}, expected: commas\\)$`),
      )
  })

  test('commas where another one was', async () => {
    const profile = Profile.parse({ format: { kind: 'delimited', delimiter: '^' } })
    const [error] = errorsOf(await readSource(cutAt(Buffer.from(HEADER)), AT_MOST, { profile }))
    expect(error?.message).toContain('(seen: commas, expected: "^")')
  })

  test('and a title is none', async () => {
    expect(await firstOf('Shares of ARIA; October\nisrc,right_type,party_id,share\n')).toMatch(/^header-missing/)
  })
})

describe('an encoding that does not hold is told with what was seen', () => {
  test.each([
    ['Latin text', Buffer.from(`note,${HEADER}café,KRA012600001,P,A,1\n`, 'latin1'), 'neither UTF-8 nor CP949'],
    ['UTF-8 with another byte', Buffer.concat([Buffer.from(`\ufeff${HEADER}`), Buffer.of(0xe9, 0x0a)]), 'byte 0xe9'],
    ['UTF-8 that is cut', Buffer.from(`\ufeff${HEADER}가`).subarray(0, -1), 'ends inside a character'],
    ['UTF-16 with an odd byte', Buffer.from(`\ufeff${HEADER}가`, 'utf16le').subarray(0, -1), 'UTF-16 that ends'],
  ])('%s', async (_, bytes, seen) => {
    const shown = await firstOf(bytes)
    expect(shown).toMatch(/^encoding: the file cannot be decoded exactly/)
    expect(shown).toContain(seen)
  })
})

test('zeros at the end of a share change no verdict', async () => {
  for (const shares of ['33.33', '33.330000', '33.3300000000']) {
    const rows = ['A', 'B', 'C'].map((party) => `KRA012600001,P,${party},${shares}\n`).join('')
    const result = await stageText(HEADER + rows, { ...AT_MOST, sumRule: 'exact' })
    expect(linesOf(result)).toBe(['A', 'B', 'C'].map((party) => `KRA012600001\tP\t${party}\t33.330000\n`).join(''))
  }
})
