import { describe, expect, test } from 'vitest'
import { holdTask } from '../../../support/faults.ts'
import { expectSettled, jobsOf } from '../../../support/invariants.ts'
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

describe('watch', () => {
  test('writes a line of JSON a look, from the running state to the end', async () => {
    const slice = await on().newSlice()
    const run = await runHeldBefore('RegisterChunk', slice)
    const watching = operator.calling('watch', ...named(slice), '--json')
    await watching.said(/"at":"RegisterChunks"/)
    run.release()
    const { code, stdout } = await watching.ended
    const looks = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(code).toBe(0)
    expect(looks[0]).toMatchObject({
      ...{ ...slice, executionArn: run.arn, status: 'RUNNING', at: 'RegisterChunks', failure: null, result: null },
      job: { state: 'REGISTERING', fence: 1, register: { rows: 400, rowsMarked: 0 } },
      lock: { holder: run.name },
    })
    expect(looks.at(-1)).toMatchObject({
      status: 'SUCCEEDED',
      at: null,
      result: expect.stringMatching(/^registered 400 rows/),
    })
    expect(looks.slice(0, -1).every(({ status }) => status === 'RUNNING')).toBe(true)
  })

  test('Ctrl-C ends the watching with 130, says so, and leaves the run alone', async () => {
    const slice = await on().newSlice()
    const run = await runHeldBefore('RegisterChunk', slice)
    const watching = operator.calling('watch', ...named(slice))
    await watching.said(/RegisterChunks {2}job \d+, fence 1 {2}\[\.+\] {2}0 % {2}0 of 400 rows/)
    watching.interrupt()
    const { code, stdout } = await watching.ended
    expect(code).toBe(130)
    expect(stdout).toContain(`the run goes on. Watch it again: sharelock watch ${named(slice).join(' ')}`)
    run.release()
    expect(await on().ended(run.arn)).toMatchObject({ status: 'SUCCEEDED' })
    await expectSettled(on(), slice, FILE)
  })

  test('of a run that ended it tells the end: what failed, why, and the one command to type', async () => {
    const slice = await on().newSlice()
    await on().seed(slice, { ...OTHER, lines: OTHER.lines.slice(0, 1) })
    const run = await runHeldBefore('RegisterChunk', slice)
    // A stranger writes one of the file's own rows.
    await on().seed(slice, { ...FILE, lines: FILE.lines.slice(0, 1) })
    run.release()
    await on().ended(run.arn)
    const { code, stdout } = await operator.call('watch', ...named(slice))
    expect(code).toBe(5)
    expect(stdout).toMatch(
      /ended by ChunkMismatch\n {2}.+\n {2}Another program wrote to the slice; stop it, then start over: sharelock start .+ --supersede --force\n$/,
    )
  })

  test('a success that registered nothing says so', async () => {
    const slice = await settled(FILE)
    const atLock = holdTask(on(), 'AcquireLock', slice)
    await on().start({ ...slice, source: await on().upload(FILE) })
    await atLock.reached
    const watching = operator.calling('watch', ...named(slice))
    await watching.said(/AcquireLock/)
    atLock.release()
    const { code, stdout } = await watching.ended
    expect(code).toBe(0)
    expect(stdout).toMatch(/: changed nothing: job \d+ had registered exactly this source before\n$/)
    expect(await jobsOf(on(), slice)).toHaveLength(1)
  })
})
