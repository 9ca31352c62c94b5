import { setTimeout as sleep } from 'node:timers/promises'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import {
  DescribeExecutionCommand,
  type DescribeExecutionOutput,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
import { CSV_HEADER, csvLine, EXAMPLE_ROW } from '../functions/contract/row-format.ts'

/**
 * `npm run smoke`: one small job through the SDK, as an operator would run it, against any endpoint and credentials: AWS,
 * or the local stack with the variables that it prints.
 *
 * 1. Upload a file of this run's own. 2. Start an execution and wait for its end: REGISTERED, with the file's rows.
 * 3. Start the same again: it finds the slice as it should be, and replaces nothing.
 *
 * STATE_MACHINE_ARN and BUCKET say where; SMOKE_DISTRIBUTOR whose slice is replaced (SMOKE by default: the migrator adds
 * it to stages where the pipeline runs this). Its months lie in 2099, where nobody settles anything.
 */
const DEADLINE_MS = 15 * 60_000
const POLL_MS = 1_000

type Ended = { readonly state: string; readonly outcome: string; readonly rows: number }

const variable = (name: string): string => {
  const value = process.env[name]
  if (value !== undefined && value !== '') return value
  throw new Error(`Set ${name}: the local stack prints it, and the job stack has it among its outputs`)
}

const fileOf = (run: string): { body: string; rows: number } => {
  const rows = Array.from({ length: 100 }, (_, index) => {
    const isrc = `KRA99${String(index).padStart(7, '0')}`
    // The run's name makes each file a new source, so that each run has something to do.
    return [
      { ...EXAMPLE_ROW, isrc, share: '75' },
      { ...EXAMPLE_ROW, isrc, party_id: run, share: '25' },
    ]
  }).flat()
  return { body: `${CSV_HEADER}${rows.map(csvLine).join('')}`, rows: rows.length }
}

/** Starts an execution and waits for its end. */
const run = async (sfn: SFNClient, name: string, input: object): Promise<Ended> => {
  const { executionArn } = await sfn.send(
    new StartExecutionCommand({ stateMachineArn: variable('STATE_MACHINE_ARN'), name, input: JSON.stringify(input) }),
  )
  const deadline = Date.now() + DEADLINE_MS
  for (;;) {
    const execution = await sfn.send(new DescribeExecutionCommand({ executionArn }))
    if (execution.status !== 'RUNNING') return endOf(name, execution)
    if (Date.now() > deadline) throw new Error(`${name} still runs after ${DEADLINE_MS / 60_000} minutes`)
    await sleep(POLL_MS)
  }
}

const endOf = (name: string, { status, output, error, cause }: DescribeExecutionOutput): Ended => {
  if (status !== 'SUCCEEDED') throw new Error(`${name} ended as ${status}: ${error ?? ''} ${cause ?? ''}`)
  const { job, staged } = JSON.parse(output ?? '{}') as { job?: Ended; staged?: { rows: number } }
  return { state: job?.state ?? '', outcome: job?.outcome ?? '', rows: staged?.rows ?? 0 }
}

const expect = (what: string, actual: unknown, expected: unknown): void => {
  if (actual !== expected) throw new Error(`${what} is ${actual} and should be ${expected}`)
  console.log(`ok  ${what} is ${actual}`)
}

const main = async (): Promise<void> => {
  const id = Date.now().toString(36)
  const distributor = process.env.SMOKE_DISTRIBUTOR ?? 'SMOKE'
  const region = process.env.AWS_REGION ?? 'ap-northeast-2'
  const { body, rows } = fileOf(`RUN.${id}`)
  const key = `incoming/${distributor}/smoke-${id}.csv`
  const s3 = new S3Client({ region, forcePathStyle: true })
  await s3.send(new PutObjectCommand({ Bucket: variable('BUCKET'), Key: key, Body: body }))
  console.log(`ok  uploaded ${key}, ${rows} rows`)

  const sfn = new SFNClient({ region })
  // A job that an earlier smoke run left behind is closed by the way.
  const input = { distributor, month: '2099-12', source: { key }, supersede: true, requestedBy: 'smoke' }
  const first = await run(sfn, `smoke-${id}-1`, input)
  expect('the job', first.state, 'REGISTERED')
  expect('the number of rows', first.rows, rows)
  const second = await run(sfn, `smoke-${id}-2`, input)
  expect('the same again', second.outcome, 'already registered')
}

try {
  await main()
} catch (error) {
  console.error(`failed  ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
