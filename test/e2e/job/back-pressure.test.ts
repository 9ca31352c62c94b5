import { expect, test } from 'vitest'
import { DISPATCHER } from '../../../functions/contract/dispatched.ts'
import { dispatchLanes } from '../../../infra/config/connections.ts'
import { stageConfig } from '../../../infra/config/stages.ts'
import type { Execution } from '../../../local/engine/execution.ts'
import { holdTask } from '../../support/faults.ts'
import { expectSettled } from '../../support/invariants.ts'
import { type ShareFile, shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'
import type { TestSlice } from '../../support/test-stack.ts'

/*
 * More distributors than jobs may run at once, on the local stack with real stores: the dispatch of the same template
 * runs as many as it may, and the others wait in its plan.
 */
const on = useStack({ pace: { retryMs: 50, waitMs: 10 } })
const LANES = dispatchLanes(stageConfig('local'))

type Delivered = { readonly slice: TestSlice; readonly file: ShareFile }

const deliver = async (month: string, count: number): Promise<Delivered[]> => {
  const delivered: Delivered[] = []
  for (let index = 0; index < count; index++) {
    const slice = await on().newSlice(month)
    const file = shareFile(60, 100 + index)
    await on().put(`incoming/${slice.distributor}/${slice.month}.csv`, file.csv)
    delivered.push({ slice, file })
  }
  return delivered
}

const dispatch = (month: string): Execution => {
  const { engine, machineArns } = on().stack
  const arn = Object.entries(machineArns).find(([name]) => name.startsWith('Dispatch'))?.[1] ?? ''
  return engine.start(arn, JSON.stringify({ month }))
}

/** The month's jobs that the dispatch has started. */
const started = (month: string): Execution[] =>
  on()
    .stack.engine.executions(on().stack.machineArn)
    .filter(({ input }) => {
      const request = JSON.parse(input) as { month: string; requestedBy: string }
      return request.month === month && request.requestedBy === DISPATCHER
    })

const running = (month: string): number => started(month).filter(({ status }) => status === 'RUNNING').length

test('a surplus waits for a lane, is started as one gets free, and is registered like the others', async () => {
  const month = '2026-05'
  const delivered = await deliver(month, LANES + 2)
  let most = 0
  const stop = on().stack.lambda.onInvoke(() => {
    most = Math.max(most, running(month))
  })
  const held = holdTask(on(), 'AcquireLock', undefined, { count: LANES })
  const month1 = dispatch(month)
  await held.reached
  expect(started(month)).toHaveLength(LANES)

  // The room that is left is an operator's: a run goes through while every lane of the dispatch stands.
  const correction = shareFile(40, 7)
  const own = await on().newSlice('2026-04')
  await on().run({ ...own, source: await on().upload(correction), requestedBy: 'kim' })
  await expectSettled(on(), own, correction)
  expect(started(month)).toHaveLength(LANES)

  held.release()
  await month1.ended
  stop()
  expect(JSON.parse(month1.output ?? '{}')).toMatchObject({ outcomes: delivered.map(() => 'registered') })
  expect(most).toBe(LANES)
  for (const { slice, file } of delivered) await expectSettled(on(), slice, file)
})

test('who stops the dispatch stops what it waits for, and nothing else of the month begins', async () => {
  const month = '2026-06'
  await deliver(month, LANES + 1)
  const held = holdTask(on(), 'RegisterChunk', undefined, { count: LANES })
  const whole = dispatch(month)
  await held.reached
  whole.stop('Stopped', 'by kim')
  await Promise.all(started(month).map(({ ended }) => ended))
  held.release()
  expect(started(month).map(({ status }) => status)).toEqual(Array(LANES).fill('ABORTED'))
})
