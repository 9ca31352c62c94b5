import fc from 'fast-check'
import { describe, test } from 'vitest'
import { PROPERTIES } from '../../../fuzz/properties.ts'

/* A few files of each kind; `npm run test:fuzz` reads 100,000. */
const FILES = 600

describe('no file crashes the readers, keeps them for ever, or is read as something else', () => {
  test.each(Object.entries(PROPERTIES))('%s', async (_, { property, part }) => {
    await fc.assert<unknown>(property as fc.IAsyncProperty<unknown>, { numRuns: Math.round(FILES * part), seed: 15 })
  })
})
