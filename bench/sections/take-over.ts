import { setTimeout as sleep } from 'node:timers/promises'
import { executionNameOf } from '../../functions/contract/execution.ts'
import { CHUNK_ROWS_MAX } from '../../functions/contract/limits.ts'
import { ExecutionInput } from '../../functions/contract/messages.ts'
import { monthDate, type Slice } from '../../functions/contract/words.ts'
import { openJob } from '../../functions/job/open-job.ts'
import { readHead } from '../../functions/job/read-head.ts'
import type { TaskContext } from '../../functions/job/task.ts'
import { progressOf } from '../../functions/store/job/ledger.ts'
import { Database } from '../../functions/store/mysql/database.ts'
import { LIFE } from '../harness/chunk-run.ts'
import { LANES } from '../harness/floor.ts'
import { newestJobId, stagedOf, startRun, untilEnded, untilRegistered } from '../harness/sharelock.ts'
import type { Registered, Testbed } from '../harness/testbed.ts'

const POLL_MS = 10

/** Rows that the slice's next job has registered so far. @param after jobs up to this id are old */
const rowsRegistered = async ({ setting: { database } }: Testbed, slice: Slice, after: number): Promise<number> => {
  const [job] = await database.rows<{ id: number }>(
    `select id from job
     where distributor_id = ? and settlement_month = ? and id > ? and state = 'REGISTERING' order by fence desc limit 1`,
    [slice.distributorId, monthDate(slice.month), after],
  )
  return job === undefined ? 0 : (await progressOf(database, job.id, 'register')).markedRows
}

/** Waits until all lanes load. */
const untilRegistering = async (testbed: Testbed, { slice }: Registered, after: number, arn: string): Promise<void> => {
  for (;;) {
    if ((await rowsRegistered(testbed, slice, after)) >= LANES * CHUNK_ROWS_MAX) return
    if ((await testbed.setting.sdk.describe(arn)).status !== 'RUNNING')
      throw new Error(`the run ${arn} ended before it could be overtaken`)
    await sleep(POLL_MS)
  }
}

/**
 * How long OpenJob takes while all lanes load, in milliseconds: it waits for the job row, that is for the chunks in
 * flight. The run it overtakes ends as Superseded; the job is finished afterwards, so that the next one meets a new one.
 */
export const takeOverMs = async (testbed: Testbed, registered: Registered): Promise<number> => {
  const { slice, digest } = registered
  const { rows, shareSum, chunks } = (await stagedOf(testbed, registered)).manifest
  const before = await newestJobId(testbed, slice)
  const arn = await startRun(testbed, slice, { staged: digest })
  await untilRegistering(testbed, registered, before, arn)
  const taker = new Database(testbed.stack.database.appAddress)
  await taker.rows('select 1')
  // OpenJob and ReadHead use their run's database only.
  const run = { database: taker } as unknown as TaskContext
  const head = await readHead(run, slice)
  const { distributor, month } = slice
  const request = ExecutionInput.parse({ distributor, month, source: { staged: digest } })
  const staged = { digest, rows, shareSum, chunks: chunks.length }
  const lock = { token: `${executionNameOf(arn)}-taker/1`, held: false }
  const startedAt = performance.now()
  await openJob(run, { request, execution: 'bench-taker', life: LIFE, slice, staged, lock, head, own: null })
  const elapsedMs = performance.now() - startedAt
  await taker.close()
  await untilEnded(testbed, arn)
  await untilRegistered(testbed, await startRun(testbed, slice, { staged: digest }))
  return elapsedMs
}
