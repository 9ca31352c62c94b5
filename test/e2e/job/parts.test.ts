import { expect, test } from 'vitest'
import { expectSettled, expectUntouched, jobsOf } from '../../support/invariants.ts'
import { named, useOperator } from '../../support/operator.ts'
import { type ShareFile, shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'
import type { TestSlice } from '../../support/test-stack.ts'

/* A month in several files: nothing starts while one is missing or differs, and together they are one file. */
const on = useStack()
const operator = useOperator(on)
const WHOLE = shareFile(300, 71)
const OLD = shareFile(300, 72)

/** A file in two, and what a descriptor says of them. */
const inTwo = ({ csv }: ShareFile) => {
  const [header = '', ...rows] = csv.trimEnd().split('\n')
  return [rows.slice(0, 100), rows.slice(100)].map((own, index) => ({
    name: `2026-10.${index + 1}.csv`,
    csv: `${[header, ...own].join('\n')}\n`,
    rows: own.length,
    shareSum: (own.reduce((sum, row) => sum + Math.round(Number(row.split(',')[3]) * 1e6), 0) / 1e6).toFixed(6),
  }))
}
const PARTS = inTwo(WHOLE)

const deliver = async ({ distributor }: TestSlice, parts = PARTS, change: object = {}) => {
  const folder = `incoming/${distributor}`
  for (const { name, csv } of parts) await on().put(`${folder}/${name}`, csv)
  const descriptor = {
    version: 1,
    parts: PARTS.map(({ name, rows, shareSum }) => ({ name, rows, shareSum })),
    ...change,
  }
  await on().put(`${folder}/2026-10.parts.json`, JSON.stringify(descriptor))
  return `${folder}/2026-10.parts.json`
}

test('all parts are one file: the same staged source, the same rows', async () => {
  const [several, one] = [await on().newSlice(), await on().newSlice()]
  const end = await on().run({ ...several, source: { parts: await deliver(several) } })
  const same = await on().run({ ...one, source: await on().upload(WHOLE) })
  expect(end).toMatchObject({ status: 'SUCCEEDED' })
  expect(end.output.staged?.digest).toBe(same.output.staged?.digest)
  await expectSettled(on(), several, WHOLE)
})

test('a part that is missing, or is another one, is named, and nothing is touched', async () => {
  const slice = await on().newSlice()
  await on().run({ ...slice, source: await on().upload(OLD) })
  const parts = await deliver(slice, PARTS.slice(0, 1))
  const missing = await on().run({ ...slice, source: { parts } })
  expect(missing).toMatchObject({ status: 'FAILED', error: 'SourceMissing' })
  expect(missing.cause).toContain(`1 of the 2 parts that ${parts} names is not in the bucket`)
  expect(missing.cause).toContain('2026-10.2.csv')
  const [first, second] = PARTS
  if (first === undefined || second === undefined) throw new Error('There are two parts')
  await deliver(slice, [first, { ...second, csv: first.csv.replaceAll(',KOMCA', ',JASRAC') }])
  const differs = await on().run({ ...slice, source: { parts } })
  expect(differs).toMatchObject({ status: 'FAILED', error: 'SourceRejected' })
  expect(differs.cause).toContain(
    'the part 2026-10.2.csv is not the file that its descriptor names: it has 100 rows and not 200',
  )
  await deliver(slice, PARTS, { version: 2 })
  const unknown = await on().run({ ...slice, source: { parts } })
  expect(unknown).toMatchObject({ status: 'FAILED', error: 'InvalidInput' })
  expect(unknown.cause).toContain('does not say what the parts are')
  expect(await jobsOf(on(), slice)).toHaveLength(1)
  await expectUntouched(on(), slice, OLD)
})

test('the command plans and starts them by the key of their descriptor, and checks them on its own machine', async () => {
  const slice = await on().newSlice()
  const key = await deliver(slice)
  const started = await operator.json('start', ...named(slice), '--yes', '--source', key)
  expect(started).toMatchObject({ code: 0, plan: { rowsToRegister: WHOLE.rows }, end: { status: 'SUCCEEDED' } })
  await expectSettled(on(), slice, WHOLE)
  for (const { name, csv } of PARTS) await operator.file(name, { csv })
  const descriptor = { version: 1, parts: PARTS.map(({ name, rows, shareSum }) => ({ name, rows, shareSum })) }
  const path = await operator.file('2026-10.parts.json', { csv: JSON.stringify(descriptor) })
  expect(await operator.json('validate', path)).toMatchObject({
    code: 0,
    accepted: true,
    summary: { rows: WHOLE.rows },
  })
  const refused = await operator.call('start', ...named(slice), '--yes', '--file', path)
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('Upload the parts') })
})

test('the schedule takes a descriptor for the file of the month', async () => {
  const slice = await on().newSlice()
  const key = await deliver(slice)
  const end = await on().run({ ...slice, source: { key }, requestedBy: 'schedule' })
  expect(end).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, WHOLE)
})
