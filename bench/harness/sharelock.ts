import { setTimeout as sleep } from 'node:timers/promises'
import type { DescribeExecutionOutput } from '@aws-sdk/client-sfn'
import { uploadKey } from '../../demo/files.ts'
import { monthDate, type Slice } from '../../functions/contract/words.ts'
import { forgetTransactions, longestTransactionMs } from './server.ts'
import { fetchStaged, type StagedFile } from './staged-file.ts'
import { fileOf, measuredSlice, type Registered, ready, type Testbed, type Times } from './testbed.ts'

let runs = 0

type Source = { readonly key: string } | { readonly staged: string } | { readonly undo: true }

/** Starts an execution as an operator does; forced, it registers what is registered already. @returns its ARN */
export const startRun = (testbed: Testbed, slice: Slice, source: Source, force = true): Promise<string> => {
  runs += 1
  const { distributor, month } = slice
  return testbed.setting.sdk.start(`bench-${runs}`, { distributor, month, source, force })
}

/** Often enough for figures of seconds; each look costs the engine, and so the run, a few milliseconds. */
const POLL_MS = 300

/** Waits for an execution's end, whatever it is. */
export const untilEnded = async ({ setting }: Testbed, arn: string): Promise<DescribeExecutionOutput> => {
  for (;;) {
    const execution = await setting.sdk.describe(arn)
    if (execution.status !== 'RUNNING') return execution
    await sleep(POLL_MS)
  }
}

/** The newest job of a slice; 0 before the first. */
export const newestJobId = async ({ setting }: Testbed, slice: Slice): Promise<number> => {
  const [row] = await setting.database.rows<{ id: number }>(
    'select coalesce(max(id), 0) as id from job where distributor_id = ? and settlement_month = ?',
    [slice.distributorId, monthDate(slice.month)],
  )
  return row?.id ?? 0
}

/** Waits for an execution's end, which must be success. */
export const untilRegistered = async (testbed: Testbed, arn: string): Promise<void> => {
  const { status, error, cause } = await untilEnded(testbed, arn)
  if (status !== 'SUCCEEDED') throw new Error(`The run ${arn} ended as ${status}: ${error} ${cause}`)
}

/** Generates a file, uploads it and registers it in measured slice `number`, once. */
export const registerFirst = async (testbed: Testbed, number: number, rows: number): Promise<Registered> => {
  const known = testbed.registered.get(number)
  if (known?.rows === rows) return known
  const slice = await measuredSlice(testbed, number)
  const path = await fileOf(testbed, rows)
  const key = uploadKey(slice.distributor, slice.month, path)
  await testbed.setting.sdk.upload(key, path)
  const arn = await startRun(testbed, slice, { key })
  await untilRegistered(testbed, arn)
  const { output } = await testbed.setting.sdk.describe(arn)
  const { staged } = JSON.parse(output ?? '{}') as { staged: { digest: string } }
  const registered = { slice, rows, digest: staged.digest }
  // A first registration deletes nothing, and fills one slot. Replaced once, both are full: each measured run then deletes a
  // full slot, and none starts the sandboxes that delete.
  await untilRegistered(testbed, await startRun(testbed, slice, { staged: staged.digest }))
  testbed.registered.set(number, registered)
  return registered
}

export const stagedOf = (testbed: Testbed, { digest }: Registered): Promise<StagedFile> =>
  fetchStaged(testbed.stack, digest)

/**
 * One whole run of Sharelock on a full slice: from the first chunk task to the transition after the last, as the
 * execution's history has them. The task that begins to register splits the transactions of deleting from those of
 * registering.
 */
export const runTimes = async (testbed: Testbed, { slice, digest }: Registered): Promise<Times> => {
  const { stack, setting } = testbed
  await ready(testbed)
  const longest = () => longestTransactionMs(setting.database, stack.database.app.user)
  let longestDeleteMs = 0
  const stop = stack.lambda.onInvoke(async ({ functionName }) => {
    if (functionName !== 'BeginRegistering') return
    longestDeleteMs = await longest()
    await forgetTransactions(setting.database)
  })
  try {
    const arn = await startRun(testbed, slice, { staged: digest })
    await untilRegistered(testbed, arn)
    const deleteMs = await setting.sdk.between(arn, 'DeleteChunks', 'MarkDeleted')
    const registerMs = await setting.sdk.between(arn, 'RegisterChunks', 'MarkRegistered')
    if (deleteMs === undefined || registerMs === undefined) throw new Error(`The run ${arn} has no times`)
    return { deleteMs, registerMs, longestDeleteMs, longestRegisterMs: await longest() }
  } finally {
    stop()
  }
}
