import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pMap from 'p-map'
import { LOCAL_STAGE } from '../../../functions/contract/local-stack-file.ts'
import { addMonths, currentMonth, monthsFrom } from '../../../functions/contract/months.ts'
import { type SliceName, sliceName } from '../../../functions/contract/words.ts'
import { OperationError } from '../operation-error.ts'
import type { Operations } from '../operations.ts'
import { DEMO_DISTRIBUTORS, demoFile } from './demo-files.ts'

/** Runs at once: more would only wait for each other on a laptop. */
const AT_ONCE = 4

/** Who has sent nothing this month yet. */
const LATE = 'NAMU'

export type Filled = { readonly registered: number; readonly kept: number }

/**
 * Adds the demonstration's distributors and registers a year for each. What is there is left alone, so a second call goes
 * on where the first one was cut off.
 *
 * @param count months, this one the last
 * @param onSlice called for each slice before it is registered: how many are done, and of how many
 * @throws OperationError Usage on any stage but the local one
 */
export const fillDemo = async (
  operations: Operations,
  count: number,
  onSlice: (slice: SliceName, done: number, all: number) => void,
): Promise<Filled> => {
  if (operations.stage !== LOCAL_STAGE)
    throw new OperationError(
      'Usage',
      `The demonstration is for the local stack only, and this stage is ${operations.stage}. Start one: npm run local`,
    )
  const last = currentMonth()
  const months = monthsFrom(addMonths(last, 1 - count), last)
  await addDistributors(operations)
  const { slices } = await operations.list(months[0] ?? last, last)
  const known = new Set(slices.map(sliceName))
  const all = months.flatMap((month, index) =>
    DEMO_DISTRIBUTORS.map(([distributor], number) => ({ distributor, month, index, number })),
  )
  const missing = all.filter(
    (each) => !known.has(sliceName(each)) && !(each.distributor === LATE && each.month === last),
  )
  const folder = await mkdtemp(join(tmpdir(), 'sharelock-demo-'))
  try {
    let done = 0
    await pMap(
      missing,
      async ({ distributor, month, index, number }) => {
        onSlice({ distributor, month }, done, missing.length)
        const path = join(folder, `${distributor}-${month}.csv`)
        await writeFile(path, demoFile(number, index))
        await register(operations, { distributor, month }, path)
        done += 1
      },
      { concurrency: AT_ONCE },
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return { registered: missing.length, kept: slices.length }
}

const addDistributors = async (operations: Operations): Promise<void> => {
  const known = new Set((await operations.distributors()).map(({ code }) => code))
  for (const [code, name] of DEMO_DISTRIBUTORS)
    if (!known.has(code))
      await operations.putDistributor(
        'add',
        { code, name, active: true, sumRule: 'at-most', partyScheme: 'opaque' },
        'the demonstration',
      )
}

const register = async (operations: Operations, slice: SliceName, path: string): Promise<void> => {
  const plan = await operations.planStart(slice, { path })
  const { executionArn } = await operations.start(plan, {
    why: 'the demonstration',
    confirmation: plan.confirmation ?? undefined,
    accept: plan.warnings.map(({ name }) => name),
  })
  for await (const { status, failure } of operations.watch(executionArn)) {
    if (status === 'RUNNING') continue
    if (failure !== null) throw new OperationError('Halted', `${sliceName(slice)}: ${failure.cause} ${failure.remedy}`)
    return
  }
}
