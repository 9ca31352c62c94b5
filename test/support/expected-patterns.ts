import { expect } from 'vitest'

/*
 * A pattern that is expected is one that the text fits. Without this, toMatchObject({ message: /held/ }) is content with
 * any text: to it a RegExp is an object without properties, and everything has none of them.
 * See decisions.md, "An expected pattern is one that the text fits".
 */
const textFits = (actual: unknown, expected: unknown): boolean | undefined => {
  if (!(expected instanceof RegExp) || actual instanceof RegExp) return undefined
  return typeof actual === 'string' && expected.test(actual)
}

expect.addEqualityTesters([textFits])
