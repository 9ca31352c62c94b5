import { Logger } from '@aws-lambda-powertools/logger'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Failure } from '../../../functions/contract/failures.ts'
import { redacted, safeError, safeLogValue, safeThrow } from '../../../functions/job/safe-error.ts'

const TOKEN = 'ARIA-2026-10-1/8c5f0a1e-1111-4222-8333-944455556666'
const UUID = '8c5f0a1e-1111-4222-8333-944455556666'
const LOGIN = 'group/?Action=connect&User=u&X-Amz-Security-Token=IQoJb3&X-Amz-Signature=0f1e2d3c'

/** As mysql2 makes one. */
const ofDriver = () =>
  Object.assign(new Error("Duplicate entry 'KRA012600001' for key 'job.PRIMARY'"), {
    ...{ code: 'ER_DUP_ENTRY', errno: 1062, sqlState: '23000' },
    sql: `insert into job (lock_token) values ('${TOKEN}')`,
    sqlMessage: `secret of ${TOKEN}`,
  })

/** As ioredis makes one. */
const ofClient = () =>
  Object.assign(new Error('WRONGPASS invalid pair'), { command: { name: 'hello', args: ['3', 'AUTH', 'u', LOGIN] } })

afterEach(() => vi.restoreAllMocks())

describe('an error in a log', () => {
  test('tells what went wrong and with which codes, and nothing that a driver hung onto it', () => {
    const { stack, ...told } = safeError(ofDriver())
    expect(told).toEqual({
      name: 'Error',
      message: "Duplicate entry 'KRA012600001' for key 'job.PRIMARY'",
      ...{ code: 'ER_DUP_ENTRY', errno: 1062, sqlState: '23000' },
    })
    expect(stack).toContain('safe-error.test.ts')
  })

  test('tells its causes by the same rule, as deep as they are, and ends', () => {
    const failure = new Failure('LockUnreachable', 'out of reach', { job: 7, cause: ofClient() })
    expect(safeError(failure)).toMatchObject({
      ...{ name: 'LockUnreachable', job: 7 },
      cause: { name: 'Error', message: 'WRONGPASS invalid pair' },
    })
    expect(JSON.stringify(safeError(failure))).not.toMatch(/AUTH|Signature/)
    const endless = new Error('again')
    endless.cause = endless
    expect(JSON.stringify(safeError(endless)).length).toBeLessThan(50_000)
    expect(safeError(new Error('x', { cause: TOKEN })).cause).toBe('ARIA-2026-10-1/***')
    expect(safeError(new Error('x', { cause: { password: 'p' } }))).not.toHaveProperty('cause')
  })

  test('has the data of a failure as fields, so that nobody cuts a holder out of a sentence', () => {
    const held = new Failure('LockHeld', 'ARIA 2026-10 is held', { data: { holder: TOKEN, remainingMs: 290_000 } })
    expect(safeError(held)).toMatchObject({ data: { holder: 'ARIA-2026-10-1/***', remainingMs: 290_000 } })
    expect(safeError(new Failure('NotLocked', 'free'))).not.toHaveProperty('data')
    expect(safeError(Object.assign(new Error('foreign'), { data: { password: 'p' } }))).not.toHaveProperty('data')
  })

  test("keeps AWS's number of the request", () => {
    const error = Object.assign(new Error('no'), { $metadata: { httpStatusCode: 403, requestId: 'r-1', extra: TOKEN } })
    expect(safeError(error)).toMatchObject({ httpStatus: 403, requestId: 'r-1' })
    expect(JSON.stringify(safeError(error))).not.toContain(UUID)
  })

  test('is written so by the logger, wherever it is in a line', () => {
    const written: string[] = []
    vi.spyOn(console, 'warn').mockImplementation((line: string) => written.push(line))
    vi.stubEnv('POWERTOOLS_DEV', 'true')
    const logger = new Logger({ serviceName: 'test', jsonReplacerFn: safeLogValue })
    logger.warn('one', { error: new Error('x', { cause: ofDriver() }), many: [ofClient()], failure: `lost ${TOKEN}` })
    logger.warn('two', ofDriver())
    vi.unstubAllEnvs()
    expect(written).toHaveLength(2)
    expect(written.join('')).toContain('ER_DUP_ENTRY')
    expect(written.join('')).not.toMatch(new RegExp(`${UUID}|insert into|AUTH|IQoJb3`))
  })
})

describe('a text', () => {
  test.each([
    [`the lock ${TOKEN} is lost`, 'the lock ARIA-2026-10-1/*** is lost'],
    [`held by kim!/${UUID}`, 'held by kim!/***'],
    [LOGIN, 'group/?Action=connect&User=u&X-Amz-Security-Token=***&X-Amz-Signature=***'],
    [`create user 'a' identified by 'p4ss'`, `create user 'a' identified by ***`],
    ['{"username":"a","password":"p4ss"}', '{"username":"a","password":***}'],
    ['arn:aws:states:eu:1:execution:Job:ARIA-2026-10-1', 'arn:aws:states:eu:1:execution:Job:ARIA-2026-10-1'],
    ["Duplicate entry '7-2026-10' for key 'job_open_slice'", "Duplicate entry '7-2026-10' for key 'job_open_slice'"],
  ])('%s', (text, expected) => {
    expect(redacted(text)).toBe(expected)
  })

  test('is cut', () => {
    expect(redacted('x'.repeat(100_000)).length).toBeLessThan(3_000)
  })
})

test('what a function ends with has its name, its words and its place, and nothing else', () => {
  const thrown = safeThrow(Object.assign(new Failure('LockLost', `lost ${TOKEN}`, { cause: ofDriver() }), { sql: 'x' }))
  expect({ ...thrown, name: thrown.name, message: thrown.message, cause: thrown.cause }).toEqual({
    ...{ name: 'LockLost', message: 'lost ARIA-2026-10-1/***', cause: undefined },
  })
  expect(thrown.stack).toContain('safe-error.test.ts')
  expect(safeThrow(TOKEN).message).toBe('ARIA-2026-10-1/***')
})
