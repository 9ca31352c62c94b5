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
  'operator/command': [...STORES, 'operator/operations', 'operator/format', 'operator/console'],
  local: [...STORES, 'infra'],
  demo: [...STORES, 'infra', 'local', 'operator/operations', 'operator/format'],
  bench: [...STORES, 'infra', 'local', 'demo'],
  bin: [...STORES, 'infra', 'local', 'operator/command'],
}

const rooms = Object.keys(MAY_IMPORT)
const roomOf = (path: string) => rooms.find((room) => path.startsWith(`${room}/`))

const files = rooms.flatMap((room) =>
  readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${room}/${file}`),
)

const importsOf = (file: string): string[] =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map((match) =>
    relative(ROOT, join(ROOT, dirname(file), match[1] ?? '')),
  )

test('imports go one way: contract <- store <- job <- handlers, and infra knows the contract only', () => {
  const wrong = files.flatMap((file) => {
    const room = roomOf(file) ?? ''
    return importsOf(file)
      .filter((target) => roomOf(target) !== room && !MAY_IMPORT[room]?.includes(roomOf(target) ?? ''))
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

test('no file imports itself through others', () => {
  const targets = new Map(files.map((file) => [file, importsOf(file)]))
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    (targets.get(from) ?? []).some((next) => {
      if (next === to) return true
      if (seen.has(next)) return false
      seen.add(next)
      return reaches(next, to, seen)
    })
  expect(files.filter((file) => reaches(file, file))).toEqual([])
})
