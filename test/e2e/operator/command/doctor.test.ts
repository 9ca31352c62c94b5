import { expect, test } from 'vitest'
import { call, useOperator } from '../../../support/operator.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

/*
 * `sharelock doctor` against disagreements made by hand. Each is found, explained, and fixed by the command that it
 * names; then it is found no more. The file has servers of its own: it breaks what others rely on.
 */
const on = useStack({ own: ['mysql', 'valkey'] })
const operator = useOperator(on)
const FILE = shareFile(400, 61)
const MONTH = ['--month', '2026-10']
type Finding = { readonly check: string; readonly severity: string; readonly what: string; readonly remedy: string }
type Diagnosis = { readonly code: number; readonly findings: readonly Finding[]; readonly checks: object | null }
const doctor = () => operator.json<Diagnosis>('doctor', ...MONTH)

/** The findings of one kind, of which there must be one. */
const only = async (check: string): Promise<Finding> => {
  const { code, findings } = await doctor()
  const found = findings.filter((finding) => finding.check === check)
  expect(found, JSON.stringify(findings)).toHaveLength(1)
  expect(code).toBe(9)
  return found[0] as Finding
}

const isGone = async (check: string): Promise<void> => {
  expect((await doctor()).findings.filter((finding) => finding.check === check)).toEqual([])
}

const settled = async (file = FILE): Promise<TestSlice> => {
  const slice = await on().newSlice()
  expect(await on().run({ ...slice, source: await on().upload(file) })).toMatchObject({ status: 'SUCCEEDED' })
  return slice
}

test('nothing is found where nothing is wrong', async () => {
  await settled()
  const { code, stdout } = await operator.call('doctor', ...MONTH)
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Nothing to fix from 2026-10 to 2026-10.\n' })
  expect(await doctor()).toMatchObject({
    code: 0,
    findings: [],
    checks: { database: { facts: { localInfile: true } } },
  })
})

test('local_infile switched off is found', async () => {
  await on().outside.query('set global local_infile = 0')
  expect(await only('local-infile')).toMatchObject({
    severity: 'error',
    remedy: expect.stringContaining('set global local_infile = 1'),
  })
  await on().outside.query('set global local_infile = 1')
  await isGone('local-infile')
})

test('a schema that lacks a migration, or has one of a newer release, is found', async () => {
  const [newest] = await on().rows<{ name: string }>('select name from schema_migration order by name desc limit 1')
  await on().outside.query(`update schema_migration set name = '999-later.sql' where name = ?`, [newest?.name ?? ''])
  const { findings } = await doctor()
  const schema = findings.filter(({ check }) => check === 'schema')
  expect(schema.map(({ severity, what }) => `${severity}: ${what}`)).toEqual([
    `error: The database lacks the migrations ${newest?.name} of this release.`,
    'warning: The database has the migrations 999-later.sql, which this release does not know.',
  ])
  await on().outside.query('update schema_migration set name = ? where name = ?', [newest?.name ?? '', '999-later.sql'])
  await isGone('schema')
})

test.each([
  ['AWS_ENDPOINT_URL_STS', /^AWS STS/],
  ['AWS_ENDPOINT_URL_LAMBDA', /^The function/],
  ['AWS_ENDPOINT_URL_SFN', /^Step Functions/],
  ['AWS_ENDPOINT_URL_S3', /^S3/],
])('a service that %s does not lead to is named, and the other checks are made all the same', async (name, service) => {
  const env = { ...on().stack.environment, [name]: 'http://127.0.0.1:1' }
  const { code, stdout } = await call(['doctor', ...MONTH, '--json'], env)
  expect(code).toBe(9)
  const { findings } = JSON.parse(stdout) as Diagnosis
  const unreachable = findings.filter(({ check }) => check === 'unreachable-service')
  expect(unreachable.length).toBeGreaterThan(0)
  for (const { what } of unreachable) expect(what).toMatch(service)
})

test('Valkey and MySQL out of reach are found', async () => {
  const { lock, database } = on().stack
  await lock.server?.kill()
  const { findings } = await doctor()
  expect(findings.map(({ what }) => what)).toContainEqual(expect.stringMatching(/^Valkey does not answer/))
  await database.server?.kill()
  const { code, findings: all, checks } = await doctor()
  expect({ code, checks }).toEqual({ code: 9, checks: null })
  expect(all).toMatchObject([
    { check: 'unreachable-service', what: expect.stringMatching(/^MySQL, through the function/) },
  ])
})
