import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { afterAll, expect, test } from 'vitest'
import { openKept } from '../../../local/kept/kept.ts'
import { type Stack, startStack } from '../../../local/stack.ts'
import { OBEDIENT, writeApp } from './app.ts'

const folder = mkdtempSync(join(tmpdir(), 'sharelock-kept-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const app = writeApp(
  { Obedient: { code: OBEDIENT }, HaltJob: { code: OBEDIENT } },
  { JobMachine: { StartAt: 'Obedient', States: { Obedient: { Type: 'Task', Resource: '@Obedient@', End: true } } } },
)
const silent = (): void => undefined

/** With servers of its own, whatever the environment names. */
const start = async (isFresh = false): Promise<Stack> =>
  await startStack({
    app,
    env: { PATH: process.env.PATH },
    mysql: { bufferPool: '64M', redoLog: '16M' },
    kept: await openKept(folder, isFresh, silent),
  })

const names = async ({ database }: Stack): Promise<unknown[]> => {
  const { host, port, name, master } = database
  const connection = await createConnection({ host, port, database: name, ...master })
  const [rows] = await connection.query<RowDataPacket[]>("select name from distributor where code <> 'SMOKE'")
  await connection.end()
  return rows.map((row) => row.name)
}

const storage = ({ aws }: Stack): S3Client =>
  new S3Client({
    region: 'ap-northeast-2',
    endpoint: aws.endpoint,
    forcePathStyle: true,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  })

const addressesOf = ({ database, lock, aws, url, lambdaUrl }: Stack) => [
  database.port,
  lock.port,
  aws.endpoint,
  url,
  lambdaUrl,
]

test('rows, objects and every address are there after a restart, and gone after a fresh start', async () => {
  const first = await start()
  const addresses = addressesOf(first)
  const { host, port, name, master } = first.database
  const connection = await createConnection({ host, port, database: name, ...master })
  await connection.query("insert into distributor (code, name) values ('KEPT', '아리아')")
  await connection.end()
  await storage(first).send(new PutObjectCommand({ Bucket: first.aws.bucket, Key: 'staged/a b', Body: 'whole' }))
  await first.stop()

  const second = await start()
  expect(addressesOf(second)).toEqual(addresses)
  expect(await names(second)).toEqual(['아리아'])
  const { Body } = await storage(second).send(new GetObjectCommand({ Bucket: second.aws.bucket, Key: 'staged/a b' }))
  expect(await Body?.transformToString()).toBe('whole')
  await second.stop()

  const third = await start(true)
  expect(addressesOf(third)).toEqual(addresses)
  expect(await names(third)).toEqual([])
  await third.stop()
}, 120_000)

test('a port that somebody else has taken is given up, and said', async () => {
  const place = join(folder, 'ports')
  const { ports } = await openKept(place, false, silent)
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(ports.lambda, '127.0.0.1', resolve))
  const said: string[] = []
  const again = await openKept(place, false, (line) => said.push(line))
  other.close()
  expect(again.ports).toMatchObject({ mysql: ports.mysql, aws: ports.aws })
  expect(again.ports.lambda).not.toBe(ports.lambda)
  expect(said).toEqual([
    `Port ${ports.lambda} is taken by another program; lambda is at ${again.ports.lambda} from now on.`,
  ])
})

test('a second stack on the same data is refused, and so are the data of another schema', async () => {
  const place = join(folder, 'second')
  expect((await openKept(place, false, silent)).isOld).toBe(false)
  expect((await openKept(place, false, silent)).isOld).toBe(true)
  // This test's parent runs as long as the test.
  writeFileSync(join(place, 'pid'), String(process.ppid))
  await expect(openKept(place, true, silent)).rejects.toThrow(`runs already, as process ${process.ppid}`)
  writeFileSync(join(place, 'pid'), '999999999')
  writeFileSync(join(place, 'schema'), 'of another checkout')
  await expect(openKept(place, false, silent)).rejects.toThrow('Begin anew: npm run local -- --fresh')
  expect((await openKept(place, true, silent)).isOld).toBe(false)
})
