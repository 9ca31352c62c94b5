import { describe, expect, test } from 'vitest'
import { holdTask } from '../../../support/faults.ts'
import { jobsOf } from '../../../support/invariants.ts'
import { named, useOperator } from '../../../support/operator.ts'
import { type ShareFile, shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

/* Watching, stopping, resuming, undoing and unlocking runs, each call in a process of its own, on the local stack. */
const on = useStack()
const operator = useOperator(on)
const FILE = shareFile(400, 51)
const OTHER = shareFile(300, 52)

/** Chunks of a staged source: several, and all in one item, so that a held task holds all of them. */
const CHUNK_ROWS = 60
const confirmed = ({ distributor, month }: TestSlice): string[] => ['--confirm', `${distributor} ${month}`]

/** A slice that holds the file. */
const settled = async (file: ShareFile): Promise<TestSlice> => {
  const slice = await on().newSlice()
  expect(await on().run({ ...slice, source: await on().upload(file) })).toMatchObject({ status: 'SUCCEEDED' })
  return slice
}

/** A run that is held before a task. */
const runHeldBefore = async (task: string, slice: TestSlice, file = FILE) => {
  const held = holdTask(on(), task, slice)
  const arn = await on().start({ ...slice, source: await on().stage(file, CHUNK_ROWS) })
  const { event } = await held.reached
  return { arn, name: arn.split(':').at(-1) ?? '', event, release: held.release }
}

describe('looking', () => {
  test('list shows every distributor in each month, and what waits for a person', async () => {
    const [done, halted] = [await settled(FILE), await settled(FILE)]
    const run = await runHeldBefore('RegisterChunk', halted, OTHER)
    await operator.call('stop', ...named(halted))
    run.release()
    const range = ['--from', '2026-09', '--to', '2026-10']
    const { code, stdout } = await operator.call('list', ...range)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ +2026-09 +2026-10 +name\n/)
    expect(stdout).toMatch(new RegExp(`\n${done.distributor} +- +settled +Distributor ${done.distributor}\n`))
    expect(stdout).toMatch(new RegExp(`\n${halted.distributor} +- +halted +`))
    expect(stdout).toMatch(
      new RegExp(
        `\n {2}${halted.distributor} 2026-10: job \\d+ halted in REGISTERING by Stopped, .+: sharelock show \\d+\n`,
      ),
    )
    const document = await operator.json<{ slices: { distributor: string }[] }>('list', '--month', '2026-10')
    expect(document).toMatchObject({ from: '2026-10', to: '2026-10', distributors: expect.any(Array) })
    expect(document.slices).toContainEqual(expect.objectContaining({ ...halted, status: 'halted', rows: 300 }))
  })

  test('show tells states, chunks, fence, source, starter, other jobs and the audit trail', async () => {
    const slice = await settled(OTHER)
    const path = await operator.file('shown.csv', FILE)
    const why = ['--why', 'corrected']
    const started = await operator.json('start', ...named(slice), '--file', path, ...confirmed(slice), ...why)
    expect(started).toMatchObject({ code: 0, end: { status: 'SUCCEEDED' } })
    const [job] = await jobsOf(on(), slice)
    const { code, stdout } = await operator.call('show', String(job?.id))
    expect(code).toBe(0)
    const time = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d'
    for (const line of [
      `^${slice.distributor} 2026-10 \\(times of Seoul\\): not locked$`,
      `^Job ${job?.id}: REGISTERED, settled$`,
      `^  states +DELETING ${time}, DELETED ${time}, REGISTERING ${time}, REGISTERED ${time}$`,
      '^  delete +not planned$',
      '^  register +\\[#+\\] 100 %  1 of 1 chunk, 400 of 400 rows$',
      '^  fence +2$',
      `^  source +${job?.source_digest.slice(0, 12)}, 400 rows, sum `,
      '^  started by +arn:aws:iam::000000000000:root$',
      '^  \\d+ +REGISTERED +300 rows',
      `^  ${time} +start +${slice.distributor} 2026-10 .+corrected; source incoming/operators/`,
    ])
      expect(stdout).toMatch(new RegExp(line, 'm'))
    expect(await operator.json('show', '999999')).toMatchObject({ code: 8, error: 'NotFound' })
  })

  test('audit shows who did what and why, newest first, of everything or of one slice', async () => {
    const slice = await on().newSlice()
    await operator.call('distributors', 'set', slice.distributor, '--no-active', '--why', 'contract ended')
    const lines = await operator.json<object[]>('audit', '--distributor', slice.distributor)
    expect(lines).toMatchObject([
      {
        action: 'set-distributor',
        ...{ distributor: slice.distributor, caller: 'arn:aws:iam::000000000000:root', why: 'contract ended' },
      },
    ])
    const { stdout } = await operator.call('audit', '--limit', '1')
    expect(stdout).toMatch(new RegExp(`^\\S+ \\S+ +set-distributor +${slice.distributor} .+contract ended`))
  })

  test('distributors are added, changed field by field, and listed with names in any script', async () => {
    const code = `K${(await on().newSlice()).distributor}`
    const added = await operator.json('distributors', 'add', code, '--name', '아리아 뮤직', '--sum-rule', 'exact')
    expect(added).toMatchObject({ code: 0, name: '아리아 뮤직', sumRule: 'exact', partyScheme: 'opaque', active: true })
    expect(await operator.json('distributors', 'add', code, '--name', 'twice')).toMatchObject({
      code: 2,
      error: 'Usage',
    })
    expect(await operator.json('distributors', 'set', 'NOBODY', '--active')).toMatchObject({
      code: 8,
      error: 'NotFound',
    })
    expect(await operator.json('distributors', 'set', code, '--party-scheme', 'ipi')).toMatchObject({
      name: '아리아 뮤직',
      sumRule: 'exact',
      partyScheme: 'ipi',
      replaceMode: 'standby',
    })
    const { stdout } = await operator.call('distributors')
    expect(stdout).toMatch(new RegExp(`^${code} +yes +exact +ipi +refuse +standby +아리아 뮤직$`, 'm'))
  })
})
