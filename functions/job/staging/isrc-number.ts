/**
 * An ISRC as an integer below 26^2 x 36^3 x 10^7 < 2^53, which a double holds exactly: 8 bytes instead of a string.
 * Numbers compare as the texts do byte by byte, since a digit is below a letter in both.
 */
const LETTERS = 26
const LETTERS_DIGITS = 36
const SERIALS = 10_000_000
const CODE_0 = 48
const CODE_A = 65

const rankOf = (code: number): number => (code < CODE_A ? code - CODE_0 : code - CODE_A + 10)
const charOf = (rank: number): string => String.fromCharCode(rank < 10 ? rank + CODE_0 : rank - 10 + CODE_A)

/** @param isrc normalised: `^[A-Z]{2}[A-Z0-9]{3}[0-9]{7}$` */
export const isrcNumber = (isrc: string): number => {
  let prefix = (isrc.charCodeAt(0) - CODE_A) * LETTERS + isrc.charCodeAt(1) - CODE_A
  for (let place = 2; place < 5; place++) prefix = prefix * LETTERS_DIGITS + rankOf(isrc.charCodeAt(place))
  return prefix * SERIALS + Number(isrc.slice(5))
}

export const isrcText = (number: number): string => {
  let prefix = Math.floor(number / SERIALS)
  let registrant = ''
  for (let place = 0; place < 3; place++) {
    registrant = charOf(prefix % LETTERS_DIGITS) + registrant
    prefix = Math.floor(prefix / LETTERS_DIGITS)
  }
  const country = charOf(Math.floor(prefix / LETTERS) + 10) + charOf((prefix % LETTERS) + 10)
  return country + registrant + String(number % SERIALS).padStart(7, '0')
}
