import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { Fingerprint } from '../../../../local/fingerprint.ts'
import { expectSettled, jobsOf, lockOf } from '../../../support/invariants.ts'
import { named, useOperator } from '../../../support/operator.ts'
import { type ShareFile, shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

/* `sharelock plan` shows what a start would do and touches nothing; `start --plan` starts exactly that. */
const on = useStack()
const operator = useOperator(on)
const FILE = shareFile(400, 71)
/** FILE and one row more. */
const CORRECTED: ShareFile = (() => {
  const lines = [...FILE.lines, 'ZZZ992600001\tPERFORMANCE\tKOMCA.X\t12.500000']
  const fingerprint = new Fingerprint()
  for (const line of lines) fingerprint.add(line)
  const csv = `${FILE.csv}ZZZ992600001,PERFORMANCE,KOMCA.X,12.5\n`
  return { csv, rows: lines.length, fingerprint: fingerprint.toString(), lines }
})()

type Planned = {
  readonly id: string
  readonly plan: {
    readonly difference: { readonly largest: readonly object[]; readonly parties: readonly object[] }
  }
}

const settled = async (): Promise<TestSlice> => {
  const slice = await on().newSlice()
  expect(await on().run({ ...slice, source: await on().upload(FILE) })).toMatchObject({ status: 'SUCCEEDED' })
  return slice
}

const planned = (slice: TestSlice, path: string, ...more: string[]) =>
  operator.json<Planned>('plan', ...named(slice), '--file', path, ...more)

const auditOf = (slice: TestSlice) => on().rows('select id from audit where distributor = ?', [slice.distributor])

test('a plan shows the rows that differ and touches nothing, and its start registers exactly that', async () => {
  const slice = await settled()
  const path = await operator.file('corrected.csv', CORRECTED)
  const [rows, parties] = [`${dirname(path)}/plan-rows.csv`, `${dirname(path)}/plan-parties.csv`]
  const { code, id, plan } = await planned(slice, path, '--output', rows, '--parties', parties)
  expect({ code, plan }).toMatchObject({
    code: 0,
    plan: {
      ...{ rowsToDelete: 400, rowsToRegister: 401, confirmation: null },
      difference: {
        ...{ added: 1, removed: 0, changed: 0, unchanged: 400, partiesChanged: 1 },
        largest: [
          { isrc: 'ZZZ992600001', party: 'KOMCA.X', before: null, after: '12.500000', difference: '12.500000' },
        ],
        parties: [{ party: 'KOMCA.X', rows: 1, difference: '12.500000' }],
      },
    },
  })
  expect(await readFile(rows, 'utf8')).toMatch(
    /^change,.*\nadded,ZZZ992600001,PERFORMANCE,KOMCA\.X,,12\.500000,12\.500000\n$/,
  )
  expect(await readFile(parties, 'utf8')).toMatch(/\nKOMCA\.X,1,0\.000000,12\.500000,12\.500000\n$/)
  await expectSettled(on(), slice, FILE)
  expect(await lockOf(on(), slice)).toBeNull()
  expect([await jobsOf(on(), slice), await auditOf(slice)]).toMatchObject([{ length: 1 }, { length: 0 }])

  const started = await operator.json('start', '--plan', id)
  expect(started).toMatchObject({ code: 0, started: { joined: false }, end: { status: 'SUCCEEDED' } })
  await expectSettled(on(), slice, CORRECTED)
})

test('a plan says by which command it is started, and a first set shows its rows', async () => {
  const slice = await on().newSlice()
  const path = await operator.file('first.csv', FILE)
  const { code, stdout } = await operator.call('plan', ...named(slice), '--file', path)
  expect(code).toBe(0)
  expect(stdout).toMatch(/The largest changes, 10 of 400\n/)
  expect(stdout).toMatch(
    new RegExp(`Nothing was started\\..*\\n +sharelock start --plan ${slice.distributor}-2026-10-[0-9a-f]{16}\\n`),
  )
  expect(await jobsOf(on(), slice)).toEqual([])
})

test('a plan whose month moved on is not started, and everything that moved is said', async () => {
  const slice = await settled()
  const { id } = await planned(slice, await operator.file('moving.csv', CORRECTED))
  const other = { csv: `${FILE.csv}ZZZ992600002,PERFORMANCE,KOMCA.Y,50\n` }
  await on().run({ ...slice, source: await on().upload(other) })
  const moved = await operator.json<{ message: string }>('start', '--plan', id)
  expect(moved).toMatchObject({ code: 10, error: 'PlanMoved' })
  expect(moved.message).toMatch(
    /the newest job: job \d+ \(REGISTERED, fence 1\) when it was planned, job \d+ \(REGISTERED, fence 2\) now/,
  )
  expect(moved.message).toMatch(/rows removed: 0 when it was planned, 1 now/)
  expect(await auditOf(slice)).toEqual([])
})

test('a plan whose file or whose own record was changed is not started', async () => {
  const slice = await settled()
  const path = await operator.file('kept.csv', CORRECTED)
  const { id, plan } = await operator.json<{ id: string; plan: { uploadKey: string } }>(
    'plan',
    ...named(slice),
    '--file',
    path,
  )
  const record = `incoming/operators/${slice.distributor}/2026-10/plans/${id.slice(-16)}.json`
  const whole = await on().get(record)
  await on().put(record, whole.replace('"added":1', '"added":2'))
  expect(await operator.json('start', '--plan', id)).toMatchObject({ code: 10, error: 'PlanMoved' })
  await on().put(record, whole)
  await on().put(plan.uploadKey, FILE.csv)
  const moved = await operator.json<{ message: string }>('start', '--plan', id)
  expect(moved).toMatchObject({ code: 10, error: 'PlanMoved' })
  expect(moved.message).toContain("the file's staged source: ")
  expect(await operator.json('start', '--plan', id.replace(/.{16}$/, '0'.repeat(16)))).toMatchObject({ code: 8 })
  expect(await operator.json('start', '--plan', id, '--file', path)).toMatchObject({ code: 2, error: 'Usage' })
})

test('a start that nobody said yes to starts nothing; a script says --yes, or the name', async () => {
  const slice = await on().newSlice()
  const path = await operator.file('unasked.csv', FILE)
  const start = (...more: string[]) => operator.json('start', ...named(slice), '--file', path, ...more)
  expect(await start()).toMatchObject({ code: 6, error: 'Unconfirmed' })
  expect(await start('--confirm', 'wrong')).toMatchObject({ code: 6, error: 'Unconfirmed' })
  expect([await jobsOf(on(), slice), await auditOf(slice)]).toEqual([[], []])
  expect(await start('--confirm', `${slice.distributor} 2026-10`)).toMatchObject({ code: 0 })
  // A large change is not agreed to by a yes, whoever planned it.
  const large = await operator.file('large.csv', shareFile(100, 72))
  expect(await operator.json('start', ...named(slice), '--file', large, '--yes')).toMatchObject({ code: 6 })
  const { id } = await planned(slice, large)
  expect(await operator.json('start', '--plan', id)).toMatchObject({ code: 6, error: 'Unconfirmed' })
  await expectSettled(on(), slice, FILE)
})

test('a refused file has a plan that nobody can start, and --no-keep writes nothing', async () => {
  const slice = await settled()
  const bad = await operator.file('bad.csv', { csv: 'isrc,right_type,party_id,share\nxx,P,A,1\n' })
  expect(await planned(slice, bad)).toMatchObject({ code: 3, error: 'Rejected', id: null })
  const path = await operator.file('only-looked.csv', CORRECTED)
  const looked = await operator.json<{ plan: { uploadKey: string } }>(
    'plan',
    ...named(slice),
    '--file',
    path,
    '--no-keep',
  )
  expect(looked).toMatchObject({ code: 0, id: null })
  await expect(on().get(looked.plan.uploadKey)).rejects.toMatchObject({ name: 'NoSuchKey' })
})
