import { expect, test } from 'vitest'
import { turnOf } from '../../../../operator/operations/turns.ts'

const soon = () => new Promise((resume) => setTimeout(resume, 10))

test('a turn that ends goes to who still waits, and not to one who gave up before', async () => {
  const [stays, leaves] = [new AbortController(), new AbortController()]
  const end = await turnOf(1, stays.signal)
  let isServed = false
  const patient = turnOf(1, stays.signal).then((endOfIt) => {
    isServed = true
    return endOfIt
  })
  const gaveUp = turnOf(1, leaves.signal)
  await soon()
  leaves.abort()
  await expect(gaveUp).rejects.toMatchObject({ name: 'Failed' })
  await soon()
  end()
  await soon()
  expect(isServed).toBe(true)
  ;(await patient)()
})

test('turns are taken in the order in which they were asked for', async () => {
  const { signal } = new AbortController()
  const end = await turnOf(1, signal)
  const served: number[] = []
  const waiting = [1, 2, 3].map(async (number) => {
    const endOfIt = await turnOf(1, signal)
    served.push(number)
    endOfIt()
  })
  await soon()
  end()
  await Promise.all(waiting)
  expect(served).toEqual([1, 2, 3])
})
