import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..', '..')

const STORES = ['functions/contract', 'functions/store', 'functions/job']

/** What each room may import of the project, itself always included. Used by none: bench, bin, test. */
const MAY_IMPORT: Record<string, string[]> = {
  'functions/contract': [],
  'functions/store': ['functions/contract'],
  'functions/job': ['functions/contract', 'functions/store'],
  'functions/handlers': STORES,
  infra: ['functions/contract'],
  'operator/operations': STORES,
  'operator/format': [...STORES, 'operator/operations'],
  'operator/console': [...STORES, 'operator/operations', 'operator/format'],
  // package.json has the version that it prints.
  'operator/command': [
    ...STORES,
    ...['operator/operations', 'operator/format', 'operator/console', 'operator', 'package.json'],
  ],
  // The one file above these rooms, which makes all operations.
  operator: [...STORES, 'operator/operations'],
  local: [...STORES, 'infra'],
  preflight: [...STORES, 'infra', 'local'],
  demo: [...STORES, 'infra', 'local', 'operator', 'operator/operations', 'operator/format'],
  bench: [...STORES, 'infra', 'local', 'demo'],
  bin: [...STORES, 'infra', 'local', 'operator/command'],
}

const rooms = Object.keys(MAY_IMPORT)
const roomOf = (path: string) => rooms.find((room) => path.startsWith(`${room}/`))

const filesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file}`)

const files = [...new Set(rooms.flatMap(filesIn))]

const importsOf = (file: string): string[] =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(/(?:from|import\(|import)\s*'(\.[^']+)'/g)].map((match) =>
    relative(ROOT, join(ROOT, dirname(file), match[1] ?? '')),
  )

test('imports go one way: contract <- store <- job <- handlers, and infra knows the contract only', () => {
  const wrong = files.flatMap((file) => {
    const room = roomOf(file) ?? ''
    return importsOf(file)
      .filter((target) => roomOf(target) !== room && !MAY_IMPORT[room]?.includes(roomOf(target) ?? target))
      .map((target) => `${file} imports ${target}`)
  })
  expect(wrong).toEqual([])
})

test('the contract does no I/O', () => {
  const wrong = files
    .filter((file) => file.startsWith('functions/contract/'))
    .filter((file) =>
      /from '(node:(fs|net|http|child_process)|mysql2|ioredis|@aws-sdk)/.test(readFileSync(join(ROOT, file), 'utf8')),
    )
  expect(wrong).toEqual([])
})

/** Every folder of the project that has code, and the folders that its files import from. */
const folders = (): Map<string, Set<string>> => {
  const imports = new Map<string, Set<string>>()
  for (const file of [...files, ...filesIn('test')]) {
    const known = imports.get(dirname(file)) ?? new Set()
    imports.set(dirname(file), known)
    for (const target of importsOf(file)) if (dirname(target) !== dirname(file)) known.add(dirname(target))
  }
  return imports
}

test('no folder imports itself through others, tests included', () => {
  const targets = folders()
  const reached = (from: string, seen: Set<string>): Set<string> => {
    for (const next of targets.get(from) ?? []) {
      if (seen.has(next)) continue
      seen.add(next)
      reached(next, seen)
    }
    return seen
  }
  expect([...targets.keys()].filter((folder) => reached(folder, new Set()).has(folder))).toEqual([])
})
