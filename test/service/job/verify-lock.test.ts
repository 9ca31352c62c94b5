import { randomUUID } from 'node:crypto'
import { ReplyError } from 'ioredis'
import { afterAll, describe, expect, test, vi } from 'vitest'
import type { Slice } from '../../../functions/contract/words.ts'
import type { TaskContext } from '../../../functions/job/task.ts'
import { verifyLock } from '../../../functions/job/verify-lock.ts'
import { tryAcquire } from '../../../functions/store/lock/acquire.ts'
import { openLockClient } from '../../../functions/store/lock/client.ts'
import { extend } from '../../../functions/store/lock/extend.ts'
import { release } from '../../../functions/store/lock/release.ts'
import { testContext } from '../../support/test-context.ts'
import { useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('verify')
const valkey = openLockClient(testContext(db.outside).env)
afterAll(async () => (await valkey).disconnect())

const newSlice = (): Slice => ({ distributorId: 1, distributor: randomUUID().slice(0, 8), month: '2026-10' })
const away = { eval: () => Promise.reject(new Error('connection refused')) }

/** A run with this lock client, and the names of what it counts. */
const counting = (run: TaskContext) => {
  const counted: string[] = []
  vi.spyOn(run.metrics, 'addMetric').mockImplementation((name) => {
    counted.push(name)
    return run.metrics
  })
  return { run, counted }
}

const input = (slice: Slice, onOutage: 'halt' | 'proceed', held = true) => ({
  slice,
  lock: { token: 'a/1', held },
  onOutage,
})

describe('before a write', () => {
  test('the lock is extended, and the time since its last extension is told', async () => {
    const slice = newSlice()
    await tryAcquire(await valkey, slice, 'a/1', 60_000)
    await new Promise((resume) => setTimeout(resume, 40))
    const ageMs = await extend(await valkey, slice, 'a/1', 60_000)
    expect(ageMs).toBeGreaterThanOrEqual(30)
    expect(ageMs).toBeLessThan(60_000)
    const { run, counted } = counting(testContext(db.outside, await valkey))
    await verifyLock(run, input(slice, 'halt'))
    expect(counted).toEqual(['lock.age'])
  })

  test('a run that never had a lock asks Valkey nothing', async () => {
    const { run, counted } = counting(testContext(db.outside, away))
    await verifyLock(run, input(newSlice(), 'halt', false))
    expect(counted).toEqual([])
  })

  test.each(['halt', 'proceed'] as const)(
    'a lost lock stops the run under the policy %s, and is counted',
    async (policy) => {
      const slice = newSlice()
      await tryAcquire(await valkey, slice, 'b/2')
      const { run, counted } = counting(testContext(db.outside, await valkey))
      await expect(verifyLock(run, input(slice, policy))).rejects.toThrow('was taken by b')
      await release(await valkey, slice, 'b/2')
      await expect(verifyLock(run, input(slice, policy))).rejects.toThrow('has expired')
      expect(counted).toEqual(['lock.renew.failure', 'lock.renew.failure'])
    },
  )

  test('Valkey out of reach stops a run that is to halt', async () => {
    const { run, counted } = counting(testContext(db.outside, away))
    await expect(verifyLock(run, input(newSlice(), 'halt'))).rejects.toMatchObject({ name: 'LockUnreachable' })
    expect(counted).toEqual(['lock.renew.failure'])
  })

  test.each([
    ['OOM command not allowed', 'LockRefused'],
    ['WRONGPASS invalid username-password pair', 'LockRefused'],
    ['NOPERM this user has no permissions', 'LockMisconfigured'],
    ['MOVED 1 10.0.0.1:6379', 'LockMisconfigured'],
  ])('an answered refusal, %s, stops a run that is to proceed in an outage', async (answer, name) => {
    const refusing = { eval: () => Promise.reject(new ReplyError(answer)) }
    const { run, counted } = counting(testContext(db.outside, refusing))
    await expect(verifyLock(run, input(newSlice(), 'proceed'))).rejects.toMatchObject({ name })
    expect(counted).toEqual(['lock.renew.failure'])
  })

  test("Valkey out of reach leaves a run that is to proceed to MySQL's fence, and is counted and logged", async () => {
    const { run, counted } = counting(testContext(db.outside, away))
    const warned = vi.spyOn(run.logger, 'warn')
    await verifyLock(run, input(newSlice(), 'proceed'))
    expect(counted).toEqual(['lock.renew.failure'])
    expect(warned).toHaveBeenCalledWith(expect.any(String), {
      error: expect.objectContaining({ name: 'LockUnreachable' }),
    })
  })
})
