import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..', '..')

const page = readFileSync(join(ROOT, 'docs', 'decisions.md'), 'utf8')
const sections = page.split(/^## /m).slice(1)
const headings = sections.map((section) => section.slice(0, section.indexOf('\n')))

const FOLDERS = ['bin', 'infra', 'functions', 'operator', 'demo', 'local', 'test', 'bench']

/** Each `decisions.md, "heading"` in the code, with its file; a heading may hold quotation marks itself. */
const named = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('decisions.test.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(ROOT, folder, file), 'utf8').replaceAll(/\n\s*(?:\*|\/\/) ?/g, ' ')
      return [...text.matchAll(/decisions\.md, "(.+?)"\./g)].map(
        ([, heading]) => [`${folder}/${file}`, heading] as const,
      )
    }),
)

test('every decision that code names is a heading of docs/decisions.md', () => {
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter(([, heading]) => !headings.includes(heading ?? ''))).toEqual([])
})

test('every decision has a date and another name than all others', () => {
  const undated = sections.filter((section) => !/^.+\n\n2\d{3}-\d\d-\d\d\n\n/.test(section))
  expect(undated.map((section) => section.slice(0, section.indexOf('\n')))).toEqual([])
  expect(headings).toEqual([...new Set(headings)])
})
