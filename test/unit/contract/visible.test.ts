import fc from 'fast-check'
import { expect, test } from 'vitest'
import { refuse } from '../../../functions/contract/source-refusals.ts'
import { quoted, visible, visibleJson } from '../../../functions/contract/visible.ts'

test.each([
  ['a line break', 'a\nb\r', 'a\\u000ab\\u000d'],
  ['an escape sequence', '\u001b[2Kok', '\\u001b[2Kok'],
  ['a control character of the second block', '\u009b31m\u007f\u0085', '\\u009b31m\\u007f\\u0085'],
  [
    'direction marks',
    '\u202ea\u202c\u2066b\u2069\u200e\u200f\u061c',
    '\\u202ea\\u202c\\u2066b\\u2069\\u200e\\u200f\\u061c',
  ],
  ['spaces that are none', 'a\u00a0\u202f\u3000b c', 'a\\u00a0\\u202f\\u3000b c'],
  ['what shows nothing', 'a\u200b\u2060\ufeff\u00ad\u3164b', 'a\\u200b\\u2060\\ufeff\\u00ad\\u3164b'],
  ['a hyphen that is none', 'KR\u2011A01', 'KR\\u2011A01'],
  ['line and paragraph separators', '\u2028\u2029', '\\u2028\\u2029'],
  ['a lone surrogate', 'a\ud800', 'a\\ud800'],
  ['a tag character', '\u{e0041}', '\\u{e0041}'],
])('%s is shown by its code point', (_, text, shown) => {
  expect(visible(text)).toBe(shown)
})

test.each(['ARIA Music', '아리아 뮤직', 'Ünïcödé Straße', '日本音楽著作権協会', '😀 ok', 'a-b_c.d "e" \\u'])(
  '%j is shown as it is',
  (text) => {
    expect(visible(text)).toBe(text)
  },
)

test('whatever the text, one line without a control character is shown', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(visible(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      expect(visible(text).isWellFormed()).toBe(true)
    }),
  )
})

test('a JSON document with hidden characters is the same document', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })), (value) => {
      expect(JSON.parse(visibleJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      expect(visibleJson(value)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
    }),
  )
})

test('a refusal shows what nobody sees in its value', () => {
  expect(refuse('isrc-format', 'isrc', 'KRA01\u200b2600001\u00a0').message).toContain('"KRA01\\u200b2600001\\u00a0"')
  expect(refuse('share-format', 'share', '2\u202f5\n').message).toContain('"2\\u202f5\\n"')
  expect(quoted('\u202e"')).toBe('"\\u202e\\""')
})
