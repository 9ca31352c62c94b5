/**
 * `="00014107338"` is how some exports make Excel keep zeros. RFC 4180 has no such value, so a parser ends at the first
 * one and says nothing of the lines behind it. Here it becomes the quoted value it should have been,
 * `"=""00014107338"""`, and is refused by its own rule, line by line.
 *
 * One with a separator in it stays an error of the structure: other programs read two values there.
 * It changes no file that could be read without it: `="` at the beginning of a value and no quote or separator behind it
 * is an error of the structure, inside quotes as outside of them.
 */

/** A line that is longer is refused for its length, whatever is in it. */
const LINE_BYTES_MAX = 65_536

const EQUALS = 0x3d
const LF = '\n'
const CR = '\r'

type Patterns = { readonly begins: RegExp; readonly whole: RegExp }

const patternsFor = (delimiter: string): Patterns => {
  const separator = `\\u{${(delimiter.codePointAt(0) ?? 0).toString(16)}}`
  return {
    begins: new RegExp(`(?:^|[${separator}\\r\\n])="[^${separator}"\\r\\n]`, 'u'),
    whole: new RegExp(`(^|[${separator}\\r\\n])="([^${separator}"\\r\\n]+)"(?=[${separator}\\r\\n]|$)`, 'gu'),
  }
}

/** The bytes with each formula around a text quoted as a value. @param utf8 ASCII where it matters: separators, quotes */
export async function* withQuotedFormulas(utf8: AsyncIterable<Buffer>, delimiter: string): AsyncGenerator<Buffer> {
  const { begins, whole } = patternsFor(delimiter)
  // Latin-1 is one character a byte, there and back.
  let before = ''
  let held = ''
  let isFound = false
  const take = (length: number): Buffer => {
    const text = before + held.slice(0, length)
    const changed = isFound ? text.replace(whole, '$1"=""$2"""') : text
    const bytes = Buffer.from(changed.slice(before.length), 'latin1')
    before = held.slice(length - 1, length) || before
    held = held.slice(length)
    return bytes
  }
  for await (const chunk of utf8) {
    if (!isFound && held === '' && chunk.at(-1) !== EQUALS && !chunk.includes('="')) {
      before = chunk.toString('latin1', Math.max(0, chunk.length - 1)) || before
      yield chunk
      continue
    }
    held += chunk.toString('latin1')
    isFound ||= begins.test(before + held)
    const lineEnd = Math.max(held.lastIndexOf(LF), held.lastIndexOf(CR)) + 1
    const length = lineEnd > 0 ? lineEnd : held.length > LINE_BYTES_MAX ? held.length : 0
    if (length > 0) yield take(length)
  }
  if (held !== '') yield take(held.length)
}
