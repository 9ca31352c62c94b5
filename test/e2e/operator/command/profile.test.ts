import { expect, test } from 'vitest'
import { named, useOperator } from '../../../support/operator.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'

/* A distributor's profile, from the command to the run that reads by it, on the local stack. */
const on = useStack()
const operator = useOperator(on)
const FILE = shareFile(300, 61)
const TABS = { csv: FILE.csv.replaceAll(',', '\t').replace('party_id', '수취인') }

test('a profile is set, shown with its versions, and read by from the next file on', async () => {
  const slice = await on().newSlice()
  const { distributor } = slice
  expect((await operator.call('profile', 'show', distributor)).stdout).toBe(
    `${distributor} has no profile: its files are canonical CSV.\n`,
  )
  const path = await operator.file('tabs.tsv', TABS)
  const refused = await operator.json('start', ...named(slice), '--yes', '--file', path)
  expect(refused).toMatchObject({ code: 3, error: 'Rejected' })
  const proposed = await operator.json<{ profile: object }>('profile', 'propose', path)
  const profile = await operator.file('tabs.json', { csv: JSON.stringify(proposed.profile) })
  const set = await operator.call('profile', 'set', distributor, profile, '--why', 'tabs from now on')
  expect(set).toMatchObject({ code: 0, stderr: '' })
  expect(set.stdout).toMatch(
    new RegExp(`^${distributor}, version 1 of its profile; .+\n{\n  "format": {\n    "kind": "tsv"\n`),
  )
  expect(set.stdout).toMatch(/\nversion +set at +by +why\n1 +\S+ +arn:aws:iam::000000000000:root +tabs from now on\n$/)
  const tested = await operator.json('profile', 'test', path, '-d', distributor)
  expect(tested).toMatchObject({ code: 0, rejection: { total: 0 } })
  const started = await operator.json('start', ...named(slice), '--yes', '--file', path)
  expect(started).toMatchObject({ code: 0, end: { status: 'SUCCEEDED' } })
  const canonical = await operator.file('commas.csv', FILE)
  const other = await operator.call('start', ...named(slice), '--yes', '--file', canonical)
  expect(other.code).toBe(3)
  const back = await operator.json('profile', 'set', distributor, '--again', '0')
  expect(back).toMatchObject({ code: 0, version: 2, versions: [{ version: 2 }, { version: 1 }] })
  const again = await operator.json('start', ...named(slice), '--yes', '--file', canonical)
  expect(again).toMatchObject({ code: 0 })
  expect(await operator.json('audit', '--distributor', distributor)).toMatchObject([
    { action: 'set-profile', detail: { version: 2 } },
    { action: 'start' },
    {
      action: 'set-profile',
      why: 'tabs from now on',
      detail: { version: 1, profile: JSON.stringify(proposed.profile) },
    },
  ])
})

test('a profile of nobody, and one that says nothing clear, is refused', async () => {
  const { distributor } = await on().newSlice()
  expect(await operator.json('profile', 'show', 'NOBODY')).toMatchObject({ code: 8, error: 'NotFound' })
  expect(await operator.json('profile', 'show', distributor, '3')).toMatchObject({ code: 2 })
  expect(await operator.json('profile', 'set', distributor)).toMatchObject({ code: 2, error: 'Usage' })
  const wrong = await operator.file('wrong.json', { csv: '{"shareUnit":"promille"}' })
  expect(await operator.json('profile', 'set', distributor, wrong)).toMatchObject({ code: 2, error: 'Usage' })
})
