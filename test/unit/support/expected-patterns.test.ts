import { expect, test } from 'vitest'

test.each([[{ message: 'the lock is held' }], [{ message: null }], [{ message: 7 }], [{ message: {} }], [{}]])(
  'an expected pattern is refused by %o',
  (actual) => {
    expect(() => expect(actual).toMatchObject({ message: /free/ })).toThrow()
    expect(() => expect([actual]).toMatchObject([{ message: /free/ }])).toThrow()
    expect(() => expect(actual).toEqual({ message: /free/ })).toThrow()
  },
)

test('an expected pattern is met by a text that fits, and by itself', () => {
  expect({ message: 'the lock is held' }).toMatchObject({ message: /held$/ })
  expect(new Error('the lock is held')).toMatchObject({ message: /held$/ })
  expect({ pattern: /held$/ }).toEqual({ pattern: /held$/ })
  expect(() => expect({ pattern: /held$/ }).toEqual({ pattern: /free$/ })).toThrow()
})
