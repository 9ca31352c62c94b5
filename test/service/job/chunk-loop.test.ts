import { describe, expect, test, vi } from 'vitest'
import { ITEM_CHUNKS } from '../../../functions/contract/limits.ts'
import type { JobMessage } from '../../../functions/contract/messages.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { runChunks } from '../../../functions/job/run-chunks.ts'
import type { TaskContext } from '../../../functions/job/task.ts'
import type { GuardedTx } from '../../../functions/store/job/guard.ts'
import { progressOf } from '../../../functions/store/job/ledger.ts'
import { loadChunk } from '../../../functions/store/share-ratio.ts'
import { EVERYTHING, registerAll } from '../../support/chunk-work.ts'
import { planChunks } from '../../support/rows.ts'
import { countedBy, guarded, opening, testContext } from '../../support/test-context.ts'
import { linesOf, newSlice, useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('loop')
const run = (): TaskContext => testContext(db.connect())

describe('the chunk loop', () => {
  const CHUNKS = ITEM_CHUNKS
  const body = (number: number): Buffer => linesOf(2 * number, 2)
  const bodies = Array.from({ length: CHUNKS }, (_, number) => body(number))
  /** A job in REGISTERING with all its chunks in the ledger. */
  const begun = async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    await db.outside.change(`update job set state = 'REGISTERING' where id = ?`, [job.id])
    const chunk = { rows: 8, bytes: 1, digest: 'a'.repeat(64), firstIsrc: 'A', lastIsrc: 'B' }
    await planChunks(
      db.outside,
      job.id,
      bodies.map((_, number) => ({ ...chunk, number })),
    )
    return { slice, job, input: { ...guarded(slice, job), item: EVERYTHING } }
  }
  const write = async (tx: GuardedTx<'REGISTERING'>, _: unknown, body: Buffer) => (await loadChunk(tx, body)).rows

  test('prepares each chunk once, while the chunk before is written, and counts rows and time', async () => {
    const { input } = await begun()
    const by = run()
    const counted = countedBy(by)
    const order: string[] = []
    const prepare = vi.fn(async ({ number }: { number: number }) => {
      order.push(`prepare ${number}`)
      return body(number)
    })
    const report = await runChunks(by, input, 'register', {
      prepare,
      write: async (tx, chunk, prepared) => {
        if (chunk.number + 1 < CHUNKS) await vi.waitUntil(() => order.includes(`prepare ${chunk.number + 1}`))
        order.push(`written ${chunk.number}`)
        return await write(tx, chunk, prepared)
      },
    })
    expect(report).toEqual({ chunks: CHUNKS, rows: 8 * CHUNKS })
    expect(order.slice(0, 4)).toEqual(['prepare 0', 'prepare 1', 'written 0', 'prepare 2'])
    expect(order).toHaveLength(2 * CHUNKS)
    expect(prepare).toHaveBeenCalledTimes(CHUNKS)
    expect(counted.map(([name]) => name)).toEqual([...Array<string>(CHUNKS).fill('chunk.duration'), 'chunk.rows'])
    expect(counted.at(-1)?.[1]).toBe(8 * CHUNKS)
    expect(counted.slice(0, -1).every(([, ms]) => ms >= 0 && ms < 60_000)).toBe(true)
  })

  test('that cannot prepare a chunk has written those before it and nothing after', async () => {
    const { input, job } = await begun()
    const by = run()
    const failing = runChunks(by, input, 'register', {
      prepare: async ({ number }) => {
        if (number === 2) throw new Error('the object is away')
        return body(number)
      },
      write: write,
    })
    await expect(failing).rejects.toThrow('the object is away')
    expect(await progressOf(db.outside, job.id, 'register')).toMatchObject({ marked: 2 })
  })

  test('fails for its own chunk even where the next one could not be prepared either', async () => {
    const { input } = await begun()
    const prepare = vi.fn(async ({ number }: { number: number }) => {
      if (number === 1) throw new Error('the object is away')
    })
    const failing = runChunks(run(), input, 'register', {
      prepare,
      write: async () => {
        await vi.waitUntil(() => prepare.mock.calls.length === 2)
        throw new Error('the rows differ')
      },
    })
    await expect(failing).rejects.toThrow('the rows differ')
  })

  test('with no time left stops before its first chunk, by the name that is called again at once', async () => {
    const { input, job } = await begun()
    const stopped = registerAll({ ...run(), remainingMs: () => 39_999 }, input, [])
    await expect(stopped).rejects.toMatchObject({
      name: 'OutOfTime',
      message: expect.stringContaining(`after 0 of ${CHUNKS} chunks`),
      fence: 1,
    })
    expect(await progressOf(db.outside, job.id, 'register')).toMatchObject({ marked: 0 })
  })

  test('with just enough time left goes on', async () => {
    const { input } = await begun()
    expect(await registerAll({ ...run(), remainingMs: () => 40_000 }, input, bodies)).toMatchObject({ chunks: CHUNKS })
  })

  test('of chunks that are all marked asks for nothing', async () => {
    const { input, job } = await begun()
    await registerAll(run(), input, bodies)
    const again: JobMessage = { ...job, state: 'REGISTERING' }
    const report = await runChunks({ ...run(), remainingMs: () => 0 }, { ...input, job: again }, 'register', {
      prepare: async () => Promise.reject(new Error('asked')),
      write: async () => Promise.reject(new Error('written')),
    })
    expect(report).toEqual({ chunks: 0, rows: 0 })
  })
})
