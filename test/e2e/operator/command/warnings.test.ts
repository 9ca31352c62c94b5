import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { DISPATCHER } from '../../../../functions/contract/dispatched.ts'
import { expectUntouched } from '../../../support/invariants.ts'
import { named, useOperator } from '../../../support/operator.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'

/* Warnings as an operator meets them: in the check of a file, in the plan of a start, and behind the schedule. */
const on = useStack()
const operator = useOperator(on)

const SMALL = shareFile(200, 31)
const HEADER = 'isrc,right_type,party_id,share\n'
const csv = `${HEADER}KRA012600001,PERFORMANCE,nan,50\nKRA012600002,PERFORMANCE,14107338.0,50\n`

test('validate shows each warning with its lines, and refuses them under --strict', async () => {
  const path = await operator.file('made.csv', { csv })
  const { code, stdout } = await operator.call('validate', path)
  expect(code).toBe(0)
  expect(stdout).toContain('warning empty-ids (1): the file has ids that stand for no value')
  expect(stdout).toContain('line 3, party_id: "14107338.0"')
  expect(await operator.json('validate', path, '--strict')).toMatchObject({
    code: 3,
    warnings: [{ name: 'empty-ids' }, { name: 'number-ids' }],
  })
  const months = await operator.file('month.csv', {
    csv: 'isrc,right_type,party_id,share,month\nKRA012600001,P,A,50,2026-09\n',
  })
  expect((await operator.call('validate', months, '--month', '2026-10')).stdout).toContain('warning other-month (1)')
})

test('a start shows the warnings, takes their names only, and tells the run and the trail what was confirmed', async () => {
  const slice = await on().newSlice()
  const path = await operator.file('start.csv', { csv })
  const refused = await operator.call('start', ...named(slice), '--yes', '--file', path, '--accept', 'number-ids')
  expect(refused.stdout).toContain('warning empty-ids (1)')
  expect(refused.stderr).toContain('give --accept empty-ids')
  expect(refused.code).toBe(6)
  const strict = await operator.call('start', ...named(slice), '--yes', '--file', path, '--strict')
  expect(strict.stderr).toContain('this start takes none: empty-ids (1), number-ids (1)')
  expect((await operator.call('start', ...named(slice), '--yes', '--file', path, '--accept', 'all')).code).toBe(2)
  const started = await operator.json(
    'start',
    ...named(slice),
    '--yes',
    '--file',
    path,
    '--accept',
    'number-ids,empty-ids',
  )
  expect(started).toMatchObject({ code: 0, end: { status: 'SUCCEEDED' } })
  const { stdout } = await operator.call('audit', ...named(slice))
  expect(stdout).toContain('confirmed empty-ids, number-ids')
})

test('a file of the schedule waits for an operator, in doctor and in the plan of the month, until a job comes', async () => {
  const slice = await on().newSlice()
  const { distributor, month } = slice
  await on().run({ ...slice, source: await on().upload(SMALL) })
  const key = `incoming/${distributor}/${month}.csv`
  await on().put(key, csv)
  const end = await on().run({ ...slice, source: { key }, requestedBy: DISPATCHER })
  expect(end).toMatchObject({ status: 'FAILED', error: 'WarningsUnconfirmed' })
  await expectUntouched(on(), slice, SMALL)
  const findings = async () => {
    const { stdout } = await operator.call('doctor', '--from', month, '--to', month)
    return stdout
  }
  const found = await findings()
  expect(found).toContain(`The file ${key} of ${distributor} ${month} was not started by the schedule`)
  expect(found).toContain(`sharelock start --distributor ${distributor} --month ${month} --source ${key}`)
  const listed = async () => (await operator.call('list', '--month', month)).stdout
  expect(await listed()).toContain(`${distributor} ${month}: ${key}, empty-ids (1), number-ids (1): sharelock start`)
  const args = ['--source', key, '--accept', 'empty-ids,number-ids', '--confirm', `${distributor} ${month}`]
  expect(await operator.call('start', ...named(slice), '--yes', ...args)).toMatchObject({ code: 0 })
  expect(await findings()).not.toContain(key)
  expect(await listed()).not.toContain(key)
})

test('the report of a refused run is printed or saved, and an existing file is left alone', async () => {
  const slice = await on().newSlice()
  expect((await operator.call('report', ...named(slice))).code).toBe(8)
  const end = await on().run({ ...slice, source: await on().upload({ csv }) })
  const printed = await operator.call('report', ...named(slice))
  expect(printed.stdout).toContain('"warning","number-ids",,3')
  const path = await operator.file('taken.html', { csv: 'mine' })
  const args = ['report', ...named(slice), '--execution', end.name, '--form', 'html']
  expect((await operator.call(...args, '--output', path)).stderr).toContain('is there already')
  expect(await readFile(path, 'utf8')).toBe('mine')
  expect((await operator.call(...args, '--output', `${path}.html`)).code).toBe(0)
  expect(await readFile(`${path}.html`, 'utf8')).toContain('14107338.0')
})

test('validate writes its report without AWS', async () => {
  const path = await operator.file('bad.csv', { csv: `${HEADER}KRA012600001,PERFORMANCE,=1+1,50\n` })
  expect((await operator.call('validate', path, '--report', `${path}.txt`)).code).toBe(2)
  expect((await operator.call('validate', path, '--report', `${path}.csv`)).code).toBe(3)
  expect(await readFile(`${path}.csv`, 'utf8')).toContain(`"'=1+1"`)
})
