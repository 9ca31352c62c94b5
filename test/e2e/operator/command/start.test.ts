import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { expectSettled, expectUntouched, jobsOf } from '../../../support/invariants.ts'
import { call, named, useOperator } from '../../../support/operator.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

/* `sharelock start` and what it refuses, each call in a process of its own, on the local stack. */
const on = useStack()
const operator = useOperator(on)
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
  operator.json<Started>('start', ...named(slice), '--yes', '--file', path, ...more)

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
  const { code, stdout, stderr } = await operator.call('start', ...named(slice), '--yes', '--file', path)
  expect(stdout).toMatch(/delete +0 rows\n +register +400 rows\n +difference +nothing was registered before/)
  expect(stdout).toMatch(new RegExp(`Started ${slice.distributor}-2026-10-[0-9a-f]{16}-1\\.`))
  expect(stdout).toMatch(/registered 400 rows as job \d+\n$/)
  expect(code).toBe(0)
  // Progress, and nothing else.
  expect(
    stderr
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith(`${slice.distributor} 2026-10  `)),
  ).toEqual([])
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
  const { code, stdout, stderr } = await operator.call('start', ...named(slice), '--yes', '--file', path)
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
  const { code, stdout } = await operator.call('start', ...named(slice), '--yes', '--file', path)
  expect(code).toBe(3)
  expect(stdout).toContain('line 2, column 4: share "33.3%" has a percent sign')
  const document = await operator.json('start', ...named(slice), '--yes', '--file', path)
  expect(document).toMatchObject({ code: 3, error: 'Rejected', plan: { validation: { rejection: { total: 1 } } } })
  await expectUntouched(on(), slice, FILE)
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
  const { code, stdout } = await call(['start', ...named(slice), '--yes', '--file', path, '--json'], env)
  relay.close()
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ started: { joined: false }, end: { status: 'SUCCEEDED' } })
  expect(relay.seen.filter((operation) => operation === 'StartExecution')).toHaveLength(2)
  expect(await jobsOf(on(), slice)).toHaveLength(1)
})

test('a file in the bucket, and a staged source by its digest, are sources too; a missing one ends with 8', async () => {
  const slice = await on().newSlice()
  const { key } = await on().upload(FILE)
  const first = await operator.json<Started>('start', ...named(slice), '--yes', '--source', key)
  expect(first).toMatchObject({ code: 0, plan: { source: { key }, rowsToRegister: 400 }, end: { status: 'SUCCEEDED' } })
  const [job] = await jobsOf(on(), slice)
  const staged = job?.source_digest ?? ''
  const again = await operator.json('start', ...named(slice), '--source', staged, '--force', ...confirmed(slice))
  expect(again).toMatchObject({ code: 0, plan: { source: { staged }, difference: { unchanged: 400 } } })
  const missing = await operator.json('start', ...named(slice), '--yes', '--source', 'incoming/nothing.csv')
  expect(missing).toMatchObject({ code: 8, error: 'NotFound' })
})
