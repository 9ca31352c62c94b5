import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Invocation } from '../../../../functions/store/invocation/invocation.ts'

test('work that throws before it waits leaves no timer behind: nothing is rejected later that nobody awaits', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  const invocation = new Invocation(60_000)
  const work = (): Promise<never> => {
    throw new Error('at once')
  }
  const late = () => new Error('late')
  await expect(invocation.within('S3', work, 20, late)).rejects.toThrow('at once')
  await pause(200)
  invocation.end()
  await pause(20)
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})
