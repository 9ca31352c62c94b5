import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FAILURE_NAMES, FAILURES, failuresEnding, failuresOf } from '../../../functions/contract/failure-table.ts'
import {
  type FunctionName,
  handlerFile,
  SUPPORT,
  SUPPORT_NAMES,
  TASK_NAMES,
  TASKS,
} from '../../../functions/contract/tasks.ts'
import { type Bundles, bundleHandlers } from '../../../infra/functions/bundles.ts'

let bundles: Bundles
beforeAll(() => {
  bundles = bundleHandlers()
}, 60_000)
afterAll(() => {
  for (const folder of bundles.values()) rmSync(dirname(folder), { recursive: true, force: true })
})

const bundleOf = (file: string): string => join(bundles.get(file) ?? expect.fail(`no bundle of ${file}`), 'index.mjs')
const textOf = (file: string): string => readFileSync(bundleOf(file), 'utf8')

const FILES = [...TASK_NAMES, ...SUPPORT_NAMES].map(handlerFile)

/** The table itself is in every bundle, as keys; a thrown name is a string in quotes. */
const throws = (file: string, name: string): boolean => new RegExp(`["'\`]${name}["'\`]`).test(textOf(file))

describe('the production bundles', () => {
  test.each(FILES)('%s is a module with a handler', async (file) => {
    process.env = {
      ...process.env,
      STAGE: 'test',
      BUCKET: 'b',
      DATABASE_HOST: 'localhost',
      DATABASE_USER: 'u',
      LOCK_HOST: 'localhost',
    }
    const module: { handler?: unknown } = await import(pathToFileURL(bundleOf(file)).href)
    expect(module.handler).toBeTypeOf('function')
  })

  test('are the same bytes each time: the same code deployed again changes nothing', () => {
    const again = bundleHandlers()
    for (const file of FILES)
      expect(readFileSync(join(again.get(file) ?? '', 'index.mjs'), 'utf8') === textOf(file), file).toBe(true)
    for (const made of again.values()) rmSync(dirname(made), { recursive: true, force: true })
  })

  test.each(FILES)('%s is small enough to start quickly', (file) => {
    expect(statSync(bundleOf(file)).size).toBeLessThan(4_000_000)
  })

  test('bring the certificates by which they know RDS, where they connect to it', () => {
    const connecting = Object.entries({ ...TASKS, ...SUPPORT }).filter(([, { database }]) => database)
    for (const [name] of connecting) {
      const text = textOf(handlerFile(name as FunctionName))
      expect(text.includes('-----BEGIN CERTIFICATE-----'), name).toBe(true)
      expect(text.includes('verifyIdentity'), name).toBe(true)
    }
  })

  test('the migrator brings its SQL', () => {
    const folder = join(bundles.get('migrate') ?? '', 'migrations')
    expect(readdirSync(folder)).toEqual(readdirSync('functions/store/schema/migrations'))
  })

  test('throw failures under the names that the state machine knows', () => {
    expect(throws('acquire-lock', 'LockHeld')).toBe(true)
    expect(throws('acquire-lock', 'LockAwaited')).toBe(true)
    for (const file of ['delete-chunk', 'register-chunk'])
      for (const name of [
        ...failuresOf('transient').filter((name) => FAILURES[name].store !== 's3' && name !== 'ReadersInTheWay'),
        'LockLost',
        'StaleFence',
      ])
        expect(throws(file, name), `${name} in ${file}`).toBe(true)
    for (const file of ['open-job', 'mark-registered', 'reuse-set', 'operate'])
      expect(throws(file, 'ReadersInTheWay'), file).toBe(true)
    expect(throws('mark-deleted', 'SliceNotEmpty')).toBe(true)
    expect(throws('open-job', 'JobOpenError')).toBe(true)
    expect(throws('open-job', 'Superseded')).toBe(true)
    expect(throws('open-job', 'PlanMoved')).toBe(true)
    // NotOpen is an operation's own answer, given before it asks a function.
    for (const name of FAILURE_NAMES.filter((each) => FAILURES[each].end === null && each !== 'NotOpen'))
      expect(throws('operate', name), name).toBe(true)
    for (const name of failuresEnding('staging', 'Rejected')) expect(throws('stage-source', name), name).toBe(true)
  })
})
