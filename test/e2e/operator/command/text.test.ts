import { expect, test } from 'vitest'
import { call, named, useOperator } from '../../../support/operator.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'

/* What people may name as they like is shown as one visible line, wherever the command shows it. */
const on = useStack()
const operator = useOperator(on)

/** Would go up a line, clear it, turn the direction, and be on a line of its own. */
const FORGED = 'x\u001b[1A\u001b[2K\u202e\r\nARIA 2026-10: settled\u009b31m'
const SHOWN = 'x\\u001b[1A\\u001b[2K\\u202e\\u000d\\u000aARIA 2026-10: settled\\u009b31m'

const expectPlain = (stdout: string): void => {
  expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
  expect(stdout).not.toMatch(/^ARIA 2026-10: settled/m)
  expect(stdout).toContain(SHOWN)
}

test("a distributor's name, a reason and the caller's name forge no line", async () => {
  const slice = await on().newSlice()
  const added = await operator.call('distributors', 'set', slice.distributor, '--name', FORGED, '--why', FORGED)
  expect(added.code).toBe(0)
  expectPlain(added.stdout)
  const source = await on().upload(shareFile(20, 61))
  expect(await on().run({ ...slice, source, requestedBy: FORGED.slice(0, 60) })).toMatchObject({ status: 'SUCCEEDED' })
  for (const args of [
    ['distributors', 'list'],
    ['list', '--month', slice.month],
    ['audit', '--distributor', slice.distributor],
    ['show', ...named(slice)],
  ])
    expectPlain((await operator.call(...args)).stdout)
})

test('with --json the same texts are the same texts, and still safe on a terminal', async () => {
  const slice = await on().newSlice()
  await operator.call('distributors', 'set', slice.distributor, '--name', FORGED)
  const { stdout } = await call(['distributors', 'list', '--json'], on().stack.environment)
  expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
  const listed = JSON.parse(stdout) as { code: string; name: string }[]
  expect(listed.find(({ code }) => code === slice.distributor)?.name).toBe(FORGED)
})
