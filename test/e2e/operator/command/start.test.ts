import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { holdTask } from '../../../support/faults.ts'
import { expectHalted, expectSettled, expectUntouched, jobsOf } from '../../../support/invariants.ts'
import { call, named, useOperator } from '../../../support/operator.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

/* `sharelock start` and what it refuses, each call in a process of its own, on the local stack. */
const on = useStack()
const operator = useOperator(on)

/** Ten processes of Node beside the stack, on however few cores. */
const MANY_PROCESSES_MS = 360_000

const FILE = shareFile(400, 41)
const OTHER = shareFile(300, 42)

type Started = {
  readonly plan: {
    readonly difference: { readonly added: number; readonly removed: number; readonly changed: number }
    readonly rowsToDelete: number
    readonly rowsToRegister: number
  }
  readonly started: { readonly execution: string; readonly executionArn: string; readonly joined: boolean } | null
  readonly end: { readonly status: string; readonly result: string | null } | null
  readonly error?: string
  readonly message?: string
}

const start = (slice: TestSlice, path: string, ...more: string[]) =>
  operator.json<Started>('start', ...named(slice), '--file', path, ...more)

const confirmed = ({ distributor, month }: TestSlice): string[] => ['--confirm', `${distributor} ${month}`]

/** A slice that holds FILE. */
const settledSlice = async (): Promise<TestSlice> => {
  const slice = await on().newSlice()
  expect(await on().run({ ...slice, source: await on().upload(FILE) })).toMatchObject({ status: 'SUCCEEDED' })
  return slice
}

test('a start says what it will do, registers the file, and ends with 0', async () => {
  const slice = await on().newSlice()
  const path = await operator.file('first.csv', FILE)
  const { code, stdout, stderr } = await operator.call('start', ...named(slice), '--file', path)
  expect(stdout).toMatch(/delete +0 rows\n +register +400 rows\n +difference +nothing was registered before/)
  expect(stdout).toMatch(new RegExp(`Started ${slice.distributor}-2026-10-[0-9a-f]{16}-1\\.`))
  expect(stdout).toMatch(/registered 400 rows as job \d+\n$/)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  await expectSettled(on(), slice, FILE)
  const [line] = await on().rows<{ caller: string; execution: string }>('select * from audit where distributor = ?', [
    slice.distributor,
  ])
  expect(line).toMatchObject({ caller: 'arn:aws:iam::000000000000:root', action: 'start' })
})

test('a second start of the same file starts nothing and says so; with --force it replaces the slice again', async () => {
  const slice = await settledSlice()
  const path = await operator.file('again.csv', FILE)
  const again = await start(slice, path)
  expect(again).toMatchObject({ code: 0, plan: { alreadyRegistered: true }, started: null, end: null })
  expect(await jobsOf(on(), slice)).toHaveLength(1)
  expect(await start(slice, path, '--force')).toMatchObject({ code: 6, error: 'Unconfirmed' })
  const forced = await start(slice, path, '--force', ...confirmed(slice))
  expect(forced).toMatchObject({ code: 0, end: { result: expect.stringMatching(/^registered 400 rows/) } })
  expect(await jobsOf(on(), slice)).toHaveLength(2)
  await expectSettled(on(), slice, FILE)
})

test('the difference counts rows added, removed and changed; a small one needs no confirmation', async () => {
  const slice = await settledSlice()
  const [header, first = '', second = '', ...rest] = FILE.csv.trimEnd().split('\n')
  const changed = second.replace(/,[^,]*$/, ',0.5')
  const added = 'ZZZ992699999,PERFORMANCE,NEW.1,100'
  const path = await operator.file('corrected.csv', { csv: `${[header, changed, ...rest, added].join('\n')}\n` })
  expect(first).not.toBe('')
  expect(await start(slice, path)).toMatchObject({
    code: 0,
    plan: { difference: { added: 1, removed: 1, changed: 1, unchanged: 398 }, rowsToDelete: 400, rowsToRegister: 400 },
    started: { joined: false },
    end: { status: 'SUCCEEDED' },
  })
})

test('a large change is refused without a typed confirmation, and with a wrong one', async () => {
  const slice = await settledSlice()
  const path = await operator.file('half.csv', OTHER)
  const { code, stdout, stderr } = await operator.call('start', ...named(slice), '--file', path)
  expect(code).toBe(6)
  expect(stdout).toMatch(/difference +300 added, 400 removed, 0 changed, 0 unchanged \(against job \d+, 400 rows\)/)
  expect(stderr).toBe(
    `A confirmation is needed: type "${slice.distributor} 2026-10", or give it as --confirm "${slice.distributor} 2026-10".\n`,
  )
  expect(await start(slice, path, '--confirm', 'yes')).toMatchObject({ code: 6, error: 'Unconfirmed' })
  await expectUntouched(on(), slice, FILE)
  expect(await start(slice, path, ...confirmed(slice))).toMatchObject({ code: 0, end: { status: 'SUCCEEDED' } })
  await expectSettled(on(), slice, OTHER)
})

test('rows that no job registered need a confirmation too, for no undo brings them back', async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OTHER)
  const path = await operator.file('over-old.csv', FILE)
  expect(await start(slice, path)).toMatchObject({ code: 6, error: 'Unconfirmed' })
})

test('a refused file ends with 3, its errors are shown, and nothing is uploaded or started', async () => {
  const slice = await settledSlice()
  const csv = 'isrc,right_type,party_id,share\nKRA012600001,PERFORMANCE,P1,33.3%\n'
  const path = await operator.file('bad.csv', { csv })
  const { code, stdout } = await operator.call('start', ...named(slice), '--file', path)
  expect(code).toBe(3)
  expect(stdout).toContain('line 2, column 4: share "33.3%" has a percent sign')
  const document = await operator.json('start', ...named(slice), '--file', path)
  expect(document).toMatchObject({ code: 3, error: 'Rejected', plan: { validation: { rejection: { total: 1 } } } })
  await expectUntouched(on(), slice, FILE)
})

describe('while another run works on the slice', () => {
  test('a start of the same file joins it, and of another file is refused naming it', async () => {
    const slice = await on().newSlice()
    const path = await operator.file('running.csv', FILE)
    const atPlan = holdTask(on(), 'PlanDelete', slice)
    const first = operator.calling('start', ...named(slice), '--file', path, '--json')
    await atPlan.reached
    const joining = await start(slice, path, '--detach')
    expect(joining).toMatchObject({ code: 0, started: { joined: true } })
    const refused = await start(slice, await operator.file('other.csv', OTHER))
    expect(refused).toMatchObject({ code: 4, error: 'Busy' })
    expect(refused.message).toContain(`is being worked on by ${joining.started?.execution}`)
    atPlan.release()
    const { code, stdout } = await first.ended
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ started: { ...joining.started, joined: false } })
    await expectSettled(on(), slice, FILE)
  })

  test('a run of the schedule with the same rows is joined, whatever its name and its file are', async () => {
    const slice = await on().newSlice()
    const atPlan = holdTask(on(), 'PlanDelete', slice)
    const scheduled = `${slice.distributor}-${slice.month}-scheduled`
    const arn = await on().start({ ...slice, source: await on().upload(FILE), onHeld: 'wait' }, scheduled)
    await atPlan.reached
    const path = await operator.file('same-rows.csv', FILE)
    expect(await start(slice, path, '--detach')).toMatchObject({ started: { execution: scheduled, joined: true } })
    atPlan.release()
    expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
    expect(await jobsOf(on(), slice)).toHaveLength(1)
  })

  test('with --wait a start of another file waits for its turn', async () => {
    const slice = await on().newSlice()
    const atPlan = holdTask(on(), 'PlanDelete', slice)
    const first = await on().start({ ...slice, source: await on().upload(FILE) })
    await atPlan.reached
    const waiting = operator.calling(
      'start',
      ...named(slice),
      '--file',
      await operator.file('next.csv', OTHER),
      '--wait',
      ...confirmed(slice),
    )
    await waiting.said(/AcquireLock/)
    atPlan.release()
    expect(await on().ended(first)).toMatchObject({ status: 'SUCCEEDED' })
    expect(await waiting.ended).toMatchObject({ code: 0 })
    await expectSettled(on(), slice, OTHER)
  })

  test(
    'of ten starts at once one starts and nine join it: one execution, one job',
    async () => {
      const slice = await on().newSlice()
      const path = await operator.file('ten.csv', FILE)
      const atRegister = holdTask(on(), 'RegisterChunk', slice)
      const calls = Array.from({ length: 10 }, () =>
        operator.calling('start', ...named(slice), '--file', path, '--json'),
      )
      // The run stays where it is until all ten have made up their minds.
      await Promise.all(calls.map(({ said }) => said(/^(Started|Joined) /m)))
      await atRegister.reached
      atRegister.release()
      const ended = await Promise.all(calls.map((one) => one.ended))
      expect(ended.map(({ code }) => code)).toEqual(ended.map(() => 0))
      const all = ended.map(({ stdout }) => JSON.parse(stdout) as Started)
      expect(all.filter(({ started }) => started?.joined === false)).toHaveLength(1)
      expect(new Set(all.map(({ started }) => started?.execution)).size).toBe(1)
      const runs = on()
        .stack.engine.executions()
        .filter(({ name }) => name.startsWith(slice.distributor))
      expect(runs).toHaveLength(1)
      expect(await jobsOf(on(), slice)).toHaveLength(1)
      await expectSettled(on(), slice, FILE)
    },
    MANY_PROCESSES_MS,
  )
})

/** Step Functions, but the reply to the first StartExecution is lost on the way. */
const losingFirstReply = async (target: string) => {
  const seen: string[] = []
  const server = createServer(async (request, response) => {
    try {
      const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? ''
      const headers = {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': String(request.headers['x-amz-target']),
      }
      const body = new Uint8Array(await buffer(request))
      const answer = await fetch(target, { method: 'POST', headers, body })
      const text = await answer.text()
      seen.push(operation)
      const isFirst = operation === 'StartExecution' && seen.filter((one) => one === operation).length === 1
      if (isFirst) response.destroy()
      else response.writeHead(answer.status, headers).end(text)
    } catch {
      // The stack has gone before the last look was answered.
      response.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close: () => server.close() }
}

test('a start whose reply is lost is repeated under its name, and starts once', async () => {
  const slice = await on().newSlice()
  const path = await operator.file('lost.csv', FILE)
  const relay = await losingFirstReply(on().stack.url)
  const env = { ...on().stack.environment, AWS_ENDPOINT_URL_SFN: relay.url, SHARELOCK_POLL_MS: '50' }
  const { code, stdout } = await call(['start', ...named(slice), '--file', path, '--json'], env)
  relay.close()
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ started: { joined: false }, end: { status: 'SUCCEEDED' } })
  expect(relay.seen.filter((operation) => operation === 'StartExecution')).toHaveLength(2)
  expect(await jobsOf(on(), slice)).toHaveLength(1)
})

test('a file in the bucket, and a staged source by its digest, are sources too; a missing one ends with 8', async () => {
  const slice = await on().newSlice()
  const { key } = await on().upload(FILE)
  const first = await operator.json<Started>('start', ...named(slice), '--source', key)
  expect(first).toMatchObject({ code: 0, plan: { source: { key }, rowsToRegister: 400 }, end: { status: 'SUCCEEDED' } })
  const [job] = await jobsOf(on(), slice)
  const staged = job?.source_digest ?? ''
  const again = await operator.json('start', ...named(slice), '--source', staged, '--force', ...confirmed(slice))
  expect(again).toMatchObject({ code: 0, plan: { source: { staged }, difference: { unchanged: 400 } } })
  const missing = await operator.json('start', ...named(slice), '--source', 'incoming/nothing.csv')
  expect(missing).toMatchObject({ code: 8, error: 'NotFound' })
})

describe('over the open job of another file', () => {
  /** Its newest job halted half way through OTHER. */
  const haltedSlice = async (): Promise<TestSlice> => {
    const slice = await settledSlice()
    const atRegister = holdTask(on(), 'RegisterChunk', slice)
    const arn = await on().start({ ...slice, source: await on().upload(OTHER) })
    await atRegister.reached
    await on().stop(arn)
    await on().ended(arn)
    atRegister.release()
    await expectHalted(on(), slice, 'REGISTERING')
    return slice
  }

  test('a start is refused with what to do instead, and --supersede closes that job', async () => {
    const slice = await haltedSlice()
    const third = shareFile(410, 43)
    const path = await operator.file('third.csv', third)
    const refused = await start(slice, path)
    expect(refused).toMatchObject({ code: 4, error: 'Busy' })
    expect(refused.message).toMatch(
      /has an open job of another file, job \d+\. Resume the open job as it is, .+: sharelock start .+ --file FILE --supersede/,
    )
    const superseding = await start(slice, path, '--supersede', ...confirmed(slice))
    expect(superseding).toMatchObject({ code: 0, end: { status: 'SUCCEEDED' } })
    await expectSettled(on(), slice, third)
  })

  test('resuming with another file is refused with what to do instead; with its own it goes on', async () => {
    const slice = await haltedSlice()
    const wrong = await operator.json<Started>(
      'resume',
      ...named(slice),
      '--file',
      await operator.file('wrong.csv', FILE),
    )
    expect(wrong).toMatchObject({ code: 4, error: 'Busy' })
    expect(wrong.message).toMatch(/This is not the file of .* open job \d+.*sharelock start .* --supersede/)
    const own = await operator.file('own.csv', OTHER)
    expect(await operator.json('resume', ...named(slice), '--file', own)).toMatchObject({
      code: 0,
      end: { status: 'SUCCEEDED' },
    })
    await expectSettled(on(), slice, OTHER)
  })

  test('starting the same file goes on with that job', async () => {
    const slice = await haltedSlice()
    const path = await operator.file('same.csv', OTHER)
    const started = await start(slice, path, ...confirmed(slice))
    expect(started).toMatchObject({
      code: 0,
      plan: { continues: { state: 'REGISTERING' } },
      end: { status: 'SUCCEEDED' },
    })
    expect(await jobsOf(on(), slice)).toHaveLength(2)
    await expectSettled(on(), slice, OTHER)
  })
})
