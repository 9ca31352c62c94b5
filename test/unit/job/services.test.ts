import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { Sandbox } from '../../../functions/job/services.ts'

const ENV = {
  STAGE: 'local',
  BUCKET: 'bucket',
  DATABASE_HOST: '127.0.0.1',
  DATABASE_USER: 'app',
  DATABASE_TLS: 'off',
  LOCK_HOST: '127.0.0.1',
  LOCK_TLS: 'off',
}

test('a storage or topic that accepts and stays silent is given up, not only warned about', async () => {
  const { services } = new Sandbox('Sweep', ENV).begin()
  for (const client of [services.s3, services.sns]) {
    // The handler takes its options when it is first used.
    const { requestHandler } = client.config
    expect(requestHandler).toHaveProperty('configProvider')
    const options = await (requestHandler as unknown as { configProvider: Promise<Record<string, unknown>> })
      .configProvider
    expect(options).toMatchObject({ throwOnRequestTimeout: true })
    expect(options.requestTimeout).toBeGreaterThan(0)
  }
})

test('those options end a request to a silent server by name', async () => {
  const server = createServer(() => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = new S3Client({
    region: 'ap-northeast-2',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
    requestHandler: { requestTimeout: 100, throwOnRequestTimeout: true },
  })
  await expect(client.send(new ListBucketsCommand({}))).rejects.toMatchObject({ name: 'TimeoutError' })
  client.destroy()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
