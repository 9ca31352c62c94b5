const HIGH_SURROGATE = /[\ud800-\udbff]$/

/**
 * A text that a column, a JSON document or a message of so many characters takes: halves of a surrogate pair become U+FFFD,
 * and what is too long is cut between two characters and ends in an ellipsis. No halt may fail because of its reason's
 * text.
 */
export const fitting = (text: string, charsMax: number): string => {
  const whole = text.toWellFormed()
  if (whole.length <= charsMax) return whole
  return `${whole.slice(0, charsMax - 1).replace(HIGH_SURROGATE, '')}…`
}
