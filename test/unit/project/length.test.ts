import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const LINES_MAX = 220
const MEDIAN_MAX = 80

const PRODUCT = ['bin', 'demo', 'functions', 'infra', 'local', 'operator', 'preflight']

const linesIn = (folders: readonly string[]): [string, number][] =>
  folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file): [string, number] => {
        const text = readFileSync(join(ROOT, folder, file), 'utf8')
        return [`${folder}/${file}`, text.split('\n').length - 1]
      }),
  )

test('no file has more than 220 lines, tests included', () => {
  expect(linesIn([...PRODUCT, 'bench', 'test']).filter(([, lines]) => lines > LINES_MAX)).toEqual([])
})

test('half of the product files have 80 lines or fewer', () => {
  const sorted = linesIn(PRODUCT)
    .map(([, lines]) => lines)
    .toSorted((a, b) => a - b)
  expect(sorted.length).toBeGreaterThan(300)
  expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(MEDIAN_MAX)
})
