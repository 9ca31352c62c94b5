/**
 * What a reader does not see, or sees in another place than it has: control characters (C0, DEL, C1) with their escape
 * sequences and line breaks, direction marks, every space but the one of ASCII, hyphens that are none, characters that
 * show nothing, halves of a surrogate pair.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2011\u2800]|(?! )\p{Zs}/gu

const hexadecimal = (code: number): string => code.toString(16).padStart(4, '0')

const codePoint = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return code > 0xffff ? `\\u{${hexadecimal(code)}}` : `\\u${hexadecimal(code)}`
}

/** What is hidden in a text, each once, as Unicode writes it: `U+200B`. */
export const hiddenCodePoints = (text: string): string[] => [
  ...new Set(
    [...text.matchAll(HIDDEN)].map(([character]) => `U+${hexadecimal(character.codePointAt(0) ?? 0).toUpperCase()}`),
  ),
]

export const withoutHidden = (text: string): string => text.replace(HIDDEN, '')

/** A text of one line in which everything is seen, e.g. `Aria\u202e` for a name that ends in a direction mark. */
export const visible = (text: string): string => text.replace(HIDDEN, codePoint)

/** JSON with the same characters escaped, so that it is the same document to a program and safe on a terminal. */
export const visibleJson = (value: unknown): string =>
  JSON.stringify(value).replace(HIDDEN, (character) =>
    character
      .split('')
      .map((unit) => `\\u${hexadecimal(unit.charCodeAt(0))}`)
      .join(''),
  )

/** A value in quotes, as messages repeat it. */
export const quoted = (text: string): string => visible(JSON.stringify(text))
