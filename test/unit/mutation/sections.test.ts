import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SECTIONS } from '../../mutation/sections.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

test.each(SECTIONS.map((section) => [section.name, section] as const))(
  'every file that the section %s names is in the project, mutated or tested once',
  (_name, { mutate, tests }) => {
    for (const named of [mutate, tests]) {
      expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
      expect(named).toEqual([...new Set(named)])
    }
  },
)

test('no file is mutated in two sections', () => {
  const mutated = SECTIONS.flatMap((section) => section.mutate)
  expect(mutated).toEqual([...new Set(mutated)])
})
