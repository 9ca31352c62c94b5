import { afterAll, beforeAll, expect } from 'vitest'
import { holdTask, within } from '../../../support/faults.ts'
import { operatorFunctions } from '../../../support/operator-functions.ts'
import { shareFile } from '../../../support/share-file.ts'
import { type UseStackOptions, useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

export const FILE = shareFile(200, 81)
export const OLD = shareFile(150, 82)

/** Four chunks. */
const CHUNK_ROWS = 50

export const TIME = expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** What operators are told by a local stack, through Lambda's API and the real bundles. */
export const useInspect = (options: UseStackOptions = {}) => {
  const on = useStack(options)
  let functions: ReturnType<typeof operatorFunctions>
  beforeAll(() => {
    functions = operatorFunctions(on())
  })
  afterAll(() => functions.close())

  const registered = async (month?: string): Promise<TestSlice> => {
    const slice = await on().newSlice(month)
    await on().seed(slice, OLD)
    const source = await on().stage(FILE, CHUNK_ROWS)
    expect(await on().run({ ...slice, source, requestedBy: 'lee' })).toMatchObject({ status: 'SUCCEEDED' })
    return slice
  }

  /** A run that waits at the door of a task. */
  const heldAt = async (task: string) => {
    const slice = await on().newSlice()
    await on().seed(slice, OLD)
    const held = holdTask(on(), task, slice)
    const arn = await on().start({ ...slice, source: await on().stage(FILE, CHUNK_ROWS) })
    await within(on(), arn, held.reached)
    return {
      slice,
      arn,
      end: async () => {
        held.release()
        return await on().ended(arn)
      },
    }
  }

  return { on, kim: () => functions, registered, heldAt }
}

/** Options of a stack with a Valkey that nobody listens for. */
export const WITHOUT_LOCK: UseStackOptions = { variables: { LOCK_PORT: '1' } }
