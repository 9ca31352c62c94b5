import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { createConnection } from 'mysql2/promise'
import { CHUNK_ROWS_MAX } from '../functions/contract/limits.ts'
import { chunkKey, Manifest, manifestKey } from '../functions/contract/manifest.ts'
import { ExecutionInput } from '../functions/contract/messages.ts'
import { monthDate, type Slice } from '../functions/contract/words.ts'
import { openJob } from '../functions/job/open-job.ts'
import { readHead } from '../functions/job/read-head.ts'
import type { Run } from '../functions/job/task.ts'
import { Database } from '../functions/store/database.ts'
import { metricValues } from '../local/day/figures.ts'
import { uploadKey, writeFile } from '../local/day/files.ts'
import { readProgress } from '../local/day/progress.ts'
import { addDistributor, closeSetting, newestJobId, openSetting, type Setting } from '../local/day/setting.ts'
import { generateTracks } from '../local/generate.ts'
import type { Stack } from '../local/stack.ts'

/** Lanes of the `local` stage; the bare statements get as many connections. */
export const LANES = 2

/** Milliseconds to delete and to register one slice. */
export type Times = { readonly deleteMs: number; readonly registerMs: number }

/** The staged objects of a file, in memory, so that the floor measures MySQL and nothing else. */
export type StagedFile = { readonly digest: string; readonly manifest: Manifest; readonly bodies: readonly Buffer[] }

const connectionOf = (stack: Stack) => {
  const { host, port, app, name } = stack.database
  return createConnection({ host, port, user: app.user, password: app.password, database: name })
}

/** Runs `jobs` on LANES connections; a lane takes the next job when it is done with one. @returns milliseconds */
const onLanes = async <Job>(
  stack: Stack,
  jobs: readonly Job[],
  work: (connection: Awaited<ReturnType<typeof connectionOf>>, job: Job) => Promise<unknown>,
): Promise<number> => {
  const connections = await Promise.all(Array.from({ length: LANES }, () => connectionOf(stack)))
  const queue = [...jobs]
  const startedAt = performance.now()
  await Promise.all(
    connections.map(async (connection) => {
      for (let job = queue.shift(); job !== undefined; job = queue.shift()) await work(connection, job)
    }),
  )
  const elapsedMs = performance.now() - startedAt
  for (const connection of connections) connection.destroy()
  return elapsedMs
}

/** Bare parallel LOAD DATA LOCAL, one transaction a staged object, nothing else. @returns milliseconds */
export const bareRegisterMs = (stack: Stack, slice: Slice, staged: StagedFile): Promise<number> =>
  onLanes(stack, staged.bodies, (connection, body) =>
    connection.query({
      sql: `load data local infile 'x' into table share_ratio character set ascii fields terminated by '\\t' escaped by ''
            lines terminated by '\\n' (isrc, right_type, party_id, share) set distributor_id = ?, settlement_month = ?`,
      values: [slice.distributorId, monthDate(slice.month)],
      infileStreamFactory: () => Readable.from([body], { objectMode: false }),
    }),
  )

/** Bare parallel range DELETE, one transaction a chunk, nothing else. @returns milliseconds */
export const bareDeleteMs = (stack: Stack, slice: Slice, staged: StagedFile): Promise<number> =>
  onLanes(stack, staged.manifest.chunks, (connection, chunk) =>
    connection.query(
      'delete from share_ratio where distributor_id = ? and settlement_month = ? and isrc >= ? and isrc <= ?',
      [slice.distributorId, monthDate(slice.month), chunk.firstIsrc, chunk.lastIsrc],
    ),
  )

/**
 * The physical floor of the same job: delete a full slice, then load it, so that MySQL purges deleted rows behind the
 * load exactly as it does behind Sharelock's.
 */
export const bareTimes = async (stack: Stack, slice: Slice, staged: StagedFile): Promise<Times> => {
  const deleteMs = await bareDeleteMs(stack, slice, staged)
  return { deleteMs, registerMs: await bareRegisterMs(stack, slice, staged) }
}

/** Sharelock's own: from the first chunk task to the transition after the last, as the execution's history has them. */
export const sharelockTimes = async (setting: Setting, slice: Slice, key: string, name: string): Promise<Times> => {
  const { operator } = setting
  const arn = await operator.start(name, {
    distributor: slice.distributor,
    month: slice.month,
    source: { key },
    force: true,
  })
  const execution = await operator.end(arn)
  if (execution.status !== 'SUCCEEDED')
    throw new Error(`The run ${name} ended as ${execution.status}: ${execution.cause}`)
  // A run that continues a job in REGISTERING has no delete.
  const deleteMs = await operator.between(arn, 'DeleteChunks', 'MarkDeleted')
  const registerMs = await operator.between(arn, 'RegisterChunks', 'MarkRegistered')
  return { deleteMs: deleteMs ?? Number.NaN, registerMs: registerMs ?? Number.NaN }
}

/** Fetches what the run staged. */
export const readStaged = async (setting: Setting, digest: string): Promise<StagedFile> => {
  const { stack } = setting
  const s3 = new S3Client({
    region: 'ap-northeast-2',
    endpoint: stack.aws.endpoint,
    forcePathStyle: true,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  const get = async (Key: string): Promise<Buffer> => {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: stack.aws.bucket, Key }))
    return Buffer.from((await Body?.transformToByteArray()) ?? [])
  }
  const manifest = Manifest.parse(JSON.parse((await get(manifestKey(digest))).toString()))
  const bodies: Buffer[] = []
  for (const { number } of manifest.chunks) bodies.push(await get(chunkKey(digest, number)))
  s3.destroy()
  return { digest, manifest, bodies }
}

/** How long OpenJob waits for the job row while both lanes load. The run it overtakes ends as Superseded. */
export const takeOverMs = async (setting: Setting, slice: Slice, key: string, name: string): Promise<number> => {
  const { operator, stack, database } = setting
  const before = await newestJobId(setting, slice)
  const arn = await operator.start(name, {
    distributor: slice.distributor,
    month: slice.month,
    source: { key },
    force: true,
  })
  for (;;) {
    const progress = await readProgress(database, slice.distributor, slice.month, before)
    if (progress?.state === 'REGISTERING' && progress.markedRows >= 2 * CHUNK_ROWS_MAX) break
    if ((await operator.describe(arn)).status !== 'RUNNING')
      throw new Error('the run ended before it could be overtaken')
    await new Promise((resume) => setTimeout(resume, 10))
  }
  const taker = new Database(stack.database.appAddress)
  await taker.rows('select 1')
  // OpenJob uses its run's database only.
  const run = { database: taker } as unknown as Run
  const head = await readHead(run, slice)
  const [row] = await taker.rows<{ digest: string; source_rows: number; total: string }>(
    'select source_digest as digest, source_rows, source_share_sum as total from job where id = ?',
    [head?.job ?? 0],
  )
  const staged = { digest: row?.digest ?? '', rows: row?.source_rows ?? 0, shareSum: row?.total ?? '', chunks: 1 }
  const request = ExecutionInput.parse({
    distributor: slice.distributor,
    month: slice.month,
    source: { staged: staged.digest },
  })
  const startedAt = performance.now()
  const lock = { token: `${name}-taker/1`, held: false }
  await openJob(run, { request, execution: `${name}-taker`, slice, staged, lock, head, own: null })
  const elapsedMs = performance.now() - startedAt
  await taker.close()
  await operator.end(arn)
  // The overtaken job is finished, so that the next take-over meets a new one.
  await sharelockTimes(setting, slice, key, `${name}-rest`)
  return elapsedMs
}

export type ReplaceFigures = {
  readonly rows: number
  readonly bare: readonly Times[]
  readonly sharelock: readonly Times[]
  readonly longestChunkMs: number
  readonly takeOversMs: readonly number[]
}

/** Alternates Sharelock and the floor on one server, so that both meet the same machine, caches and disk. */
export const measureReplace = async (stack: Stack, rows: number, rounds: number, say: (line: string) => void) => {
  const setting = await openSetting(stack)
  await mkdir(setting.folder, { recursive: true })
  const slice = await addDistributor(setting, { code: 'BENCH', sumRule: 'exact', partyScheme: 'opaque' }, '2026-10')
  const floor = await addDistributor(setting, { code: 'FLOOR', sumRule: 'exact', partyScheme: 'opaque' }, '2026-10')
  const { path } = await writeFile(join(setting.folder, 'bench.csv'), generateTracks({ rows, seed: 5 }))
  const key = uploadKey('BENCH', '2026-10', path)
  await setting.operator.upload(key, path)
  say('  first run: fills the slice and warms the sandboxes')
  await sharelockTimes(setting, slice, key, 'bench-warm-up')
  const progress = await readProgress(setting.database, 'BENCH', '2026-10', 0)
  const staged = await readStaged(setting, progress?.source ?? '')
  await bareRegisterMs(stack, floor, staged)
  const bare: Times[] = []
  const sharelock: Times[] = []
  for (let round = 1; round <= rounds; round += 1) {
    bare.push(await bareTimes(stack, floor, staged))
    sharelock.push(await sharelockTimes(setting, slice, key, `bench-${round}`))
    say(`  round ${round} of ${rounds} done`)
  }
  const longest = Math.max(...(await metricValues(stack.logsFolder, 'chunk.duration')))
  const takeOversMs: number[] = []
  for (let take = 1; take <= rounds; take += 1)
    takeOversMs.push(await takeOverMs(setting, slice, key, `bench-take-${take}`))
  await closeSetting(setting)
  return { rows, bare, sharelock, longestChunkMs: longest, takeOversMs } satisfies ReplaceFigures
}
