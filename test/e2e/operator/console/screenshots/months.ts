import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createConnection } from 'mysql2/promise'
import { addMonths } from '../../../../../functions/contract/months.ts'
import type { SliceName } from '../../../../../functions/contract/words.ts'
import { generateTracks } from '../../../../../local/generate.ts'
import { type Stack, startStack } from '../../../../../local/stack.ts'
import { createOperations } from '../../../../../operator/create-operations.ts'
import type { Operations } from '../../../../../operator/operations/operations.ts'

/** A stack with half a year of believable months, as an operator might find it on the day of the month. */
export type Demo = {
  readonly operations: Operations
  /** Starts this month's replacement of the large distributor, which stays in the midst of registering. */
  readonly startLarge: () => Promise<void>
  readonly halted: SliceName
  readonly stop: () => Promise<void>
}

const DISTRIBUTORS = [
  ['ARIA', 'Aria Music Korea', 34_000],
  ['BOM', '봄소리 엔터테인먼트', 8_200],
  ['DAMSO', '담소음반', 5_600],
  ['HANBIT', '한빛뮤직', 11_400],
  ['LUMEN', 'Lumen Records', 7_300],
  ['NAMU', '나무레코드', 3_900],
  ['ORBIT', 'Orbit Distribution', 9_800],
  ['SORI', '소리마을 유통', 2_700],
] as const

const LARGE = 'ARIA'
const HALTED = 'HANBIT'
const LATE = 'NAMU'
/** New in the third month of the six. */
const YOUNG = 'SORI'

/** Rows of the large distributor this month: about 40 chunks. */
const LARGE_ROWS = 400_000

/** Map items of the large one that may pass, of six to eight chunks each. */
const ITEMS_PASSED = 3

const months = (newest: string): string[] => Array.from({ length: 6 }, (_, index) => addMonths(newest, -index))

const writeFile = async (folder: string, name: string, rows: number, seed: number): Promise<string> => {
  const path = join(folder, name)
  function* lines(): Generator<string> {
    yield 'isrc,right_type,party_id,share\n'
    for (const track of generateTracks({ rows, seed }))
      yield track.rows.map(({ isrc, rightType, party, share }) => `${isrc},${rightType},${party},${share}\n`).join('')
  }
  await pipeline(Readable.from(lines()), createWriteStream(path))
  return path
}

const register = async (operations: Operations, slice: SliceName, path: string, why: string): Promise<void> => {
  const plan = await operations.planStart(slice, { path })
  const { executionArn } = await operations.start(plan, {
    why,
    confirmation: plan.confirmation ?? undefined,
    accept: plan.warnings.map(({ name }) => name),
  })
  for await (const { status } of operations.watch(executionArn)) if (status !== 'RUNNING') return
}

export const startDemo = async (newest: string): Promise<Demo> => {
  const stack = await startStack({ pace: { retryMs: 50 } })
  Object.assign(process.env, stack.environment)
  const operations = createOperations({ ...process.env, SHARELOCK_POLL_MS: '200' })
  const folder = join(stack.folder, 'demo')
  await mkdir(folder)
  for (const [code, name] of DISTRIBUTORS)
    await operations.putDistributor(
      'add',
      { code, name, active: true, sumRule: 'at-most', partyScheme: 'opaque' },
      'new contract',
    )
  const smoke = (await operations.distributors()).find(({ code }) => code === 'SMOKE')
  if (smoke !== undefined) {
    const { id: _, ...fields } = smoke
    await operations.putDistributor('set', { ...fields, active: false }, 'not one of ours')
  }
  const shown = months(newest)
  await fill(operations, folder, shown)
  await backdate(stack, shown)
  const halted = { distributor: HALTED, month: newest }
  await halt(stack, operations, folder, halted)
  const startLarge = () => replaceLarge(stack, operations, folder, { distributor: LARGE, month: newest })
  return { operations, startLarge, halted, stop: () => stack.stop() }
}

/** Every month of everybody, but for who is late and who was not there yet. */
const fill = async (operations: Operations, folder: string, shown: readonly string[]): Promise<void> => {
  for (const [index, month] of shown.entries())
    await Promise.all(
      DISTRIBUTORS.map(async ([code, , rows], number) => {
        if ((index === 0 && code === LATE) || (index > 2 && code === YOUNG)) return
        const seed = 100 * index + number
        const isLarge = index === 0 && code === LARGE
        const size = isLarge ? LARGE_ROWS : rows + ((seed * 7_919) % Math.floor(rows / 5))
        const path = await writeFile(folder, `${code}-${month}.csv`, size, seed)
        await register(operations, { distributor: code, month }, path, `the file of ${month}`)
      }),
    )
}

/** The older months were registered in their own time. */
const backdate = async ({ database }: Stack, shown: readonly string[]): Promise<void> => {
  const { host, port, name, master } = database
  const connection = await createConnection({ host, port, database: name, ...master })
  const columns = ['created_at', 'opened_at', 'deleted_at', 'registering_at', 'registered_at']
  const earlier = columns.map((column) => `${column} = ${column} - interval ? month - interval ? minute`).join(', ')
  for (const [index, month] of shown.entries())
    for (const [number, [code]] of DISTRIBUTORS.entries()) {
      const shift = [index, 37 * number + 180 * index]
      await connection.query(
        `update job set ${earlier} where settlement_month = ? and distributor_id = (select id from distributor where code = ?)`,
        [...columns.flatMap(() => shift), `${month}-01`, code],
      )
    }
  await connection.end()
}

/** Another program writes a row of its own into the slice while it is registered, and the sum does not come out. */
const halt = async (stack: Stack, operations: Operations, folder: string, slice: SliceName): Promise<void> => {
  const { host, port, name, master } = stack.database
  const connection = await createConnection({ host, port, database: name, ...master })
  const stopIntruding = stack.lambda.onInvoke(async ({ functionName, event }) => {
    if (functionName !== 'RegisterChunk' || !isOf(event, slice)) return
    stopIntruding()
    await connection.query(
      `insert into share_ratio select id, ?, 0, 'ZZZ992600001', 'PERFORMANCE', 'KOMCA.0000001', 100
       from distributor where code = ?`,
      [`${slice.month}-01`, slice.distributor],
    )
  })
  const path = await writeFile(folder, 'corrected.csv', 12_000, 901)
  await register(operations, slice, path, 'the corrected file of the 5th')
  await stack.lambda.settled()
  await connection.end()
}

const isOf = (event: unknown, { distributor }: SliceName): boolean =>
  (event as { slice?: SliceName }).slice?.distributor === distributor

const replaceLarge = async (stack: Stack, operations: Operations, folder: string, slice: SliceName): Promise<void> => {
  const path = await writeFile(folder, 'large.csv', LARGE_ROWS + 12_000, 902)
  let items = 0
  stack.lambda.onInvoke(async ({ functionName, event }) => {
    if (functionName !== 'RegisterChunk' || !isOf(event, slice)) return
    items += 1
    // The others are never let go: the pictures are taken, and then everything is stopped.
    if (items > ITEMS_PASSED) await new Promise(() => undefined)
  })
  const plan = await operations.planStart(slice, { path })
  await operations.start(plan, {
    why: 'twelve thousand rows were missing',
    confirmation: plan.confirmation ?? undefined,
  })
}
