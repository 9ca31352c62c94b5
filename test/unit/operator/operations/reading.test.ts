import { describe, expect, test } from 'vitest'
import { TASKS } from '../../../../functions/contract/tasks.ts'
import { generateRatios } from '../../../../local/generate.ts'
import { READING_MAX_MS, READINGS_AT_ONCE } from '../../../../operator/operations/limits.ts'
import { readApart } from '../../../../operator/operations/read-apart.ts'
import { AT_MOST, HEADER, linesOf, stageText } from '../../../support/staging.ts'

/* A file is read in a thread of its own: nothing in it keeps the one that waits from answering. */

async function* pieces(text: string): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += 65_536) yield Buffer.from(text.slice(at, at + 65_536))
}

/** A file that says when it is asked for more, and never ends. */
const endless = () => {
  const asked = Promise.withResolvers<void>()
  let isClosed = false
  const bytes = async function* (): AsyncGenerator<Buffer> {
    try {
      yield Buffer.from(HEADER)
      asked.resolve()
      for (let n = 0; ; n++) yield Buffer.from(`KRA01${String(n % 10_000_000).padStart(7, '0')},P,A,1\n`)
    } finally {
      isClosed = true
    }
  }
  return { bytes: bytes(), asked: asked.promise, isClosed: () => isClosed }
}

test('the thread that waits for a file does a small part of the work', async () => {
  const text = [...generateRatios({ rows: 200_000 })].join('')
  const ending = new AbortController()
  const [all, own] = [process.cpuUsage(), process.threadCpuUsage()]
  const { validation } = await readApart(pieces(text), { rules: AT_MOST }, { signal: ending.signal })
  const [allSpent, ownSpent] = [process.cpuUsage(all), process.threadCpuUsage(own)]
  ending.abort()
  expect(validation).toMatchObject({ accepted: true, summary: { rows: 200_000 } })
  expect(ownSpent.user + ownSpent.system).toBeLessThan((allSpent.user + allSpent.system) / 2)
})

test('its rows are those of the same file read here, chunk by chunk', async () => {
  const text = [...generateRatios({ rows: 40_000 })].join('')
  const ending = new AbortController()
  const { rows } = await readApart(pieces(text), { rules: AT_MOST }, { signal: ending.signal })
  const bodies = await Promise.all((rows?.chunks ?? []).map((_, number) => rows?.body(number)))
  ending.abort()
  expect(bodies.length).toBeGreaterThan(2)
  expect(bodies.join('')).toBe(linesOf(await stageText(text)))
})

describe('a reading', () => {
  test('is refused with every error, as it is here', async () => {
    const text = `${HEADER}KRA012600001,P,A,x\n`
    const ending = new AbortController()
    const { validation, rows } = await readApart(pieces(text), { rules: AT_MOST }, { signal: ending.signal })
    ending.abort()
    const here = await stageText(text)
    expect(rows).toBeNull()
    expect(validation.rejection).toEqual(here.accepted ? null : here.rejection)
  })

  test('passes an error of the file on as it is', async () => {
    const failure = new Error('the disk is gone')
    const broken = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from(HEADER)
      throw failure
    }
    await expect(readApart(broken(), { rules: AT_MOST }, { signal: new AbortController().signal })).rejects.toBe(
      failure,
    )
  })

  test('that is ended half way closes the file and gives its turn to the next one', async () => {
    const running = Array.from({ length: READINGS_AT_ONCE }, () => {
      const [file, ending] = [endless(), new AbortController()]
      const reading = readApart(file.bytes, { rules: AT_MOST }, { signal: ending.signal })
      reading.catch(() => undefined)
      return { file, ending, reading }
    })
    await Promise.all(running.map(({ file }) => file.asked))
    const given = new AbortController()
    const givenUp = readApart(endless().bytes, { rules: AT_MOST }, { signal: given.signal })
    let isRead = false
    const last = new AbortController()
    const next = readApart(pieces(`${HEADER}KRA012600001,P,A,1\n`), { rules: AT_MOST }, { signal: last.signal }).then(
      (reading) => {
        isRead = true
        return reading
      },
    )
    given.abort()
    await expect(givenUp).rejects.toMatchObject({ name: 'Failed', message: 'The check of the file was ended.' })
    expect(isRead).toBe(false)
    running[0]?.ending.abort()
    await expect(running[0]?.reading).rejects.toMatchObject({ name: 'Failed' })
    expect((await next).validation.accepted).toBe(true)
    last.abort()
    expect(running[0]?.file.isClosed()).toBe(true)
    for (const { ending } of running) ending.abort()
  })

  test('has as much time as the run that would read the same file', () => {
    expect(READING_MAX_MS).toBeGreaterThanOrEqual(TASKS.StageSource.lambdaTimeoutS * 1_000)
  })
})
