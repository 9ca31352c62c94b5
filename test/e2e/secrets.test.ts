import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'
import { operatorFunctions } from '../support/operator-functions.ts'
import { searchSecrets } from '../support/secret-search.ts'
import { shareFile } from '../support/share-file.ts'
import { startTestStack } from '../support/start-test-stack.ts'
import type { TestStack } from '../support/test-stack.ts'

/* A stack that told a secret does not stop in peace; the search is that of every suite. */

const { mysql, valkey } = { mysql: inject('mysql'), valkey: inject('valkey') }
const stacks: TestStack[] = []
afterAll(async () => {
  for (const on of stacks) await on.close().catch(() => undefined)
})

test('what a run and its operators are told has no secret in it, and one that is put there is found', async () => {
  const env = {
    PATH: process.env.PATH,
    SHARELOCK_MYSQL: `${mysql.host}:${mysql.port}`,
    SHARELOCK_MYSQL_USER: mysql.user,
    SHARELOCK_MYSQL_PASSWORD: mysql.password,
    SHARELOCK_VALKEY: `${valkey.host}:${valkey.port}`,
  }
  const on = await startTestStack({}, { env })
  stacks.push(on)
  const slice = await on.newSlice()
  const source = await on.upload(shareFile(50, 5))
  // Both a run that ends well and one that fails: each says something.
  expect(await on.run({ ...slice, source })).toMatchObject({ status: 'SUCCEEDED' })
  expect(await on.run({ ...slice, source: { key: 'incoming/none.csv' } })).toMatchObject({ error: 'SourceMissing' })
  const kim = operatorFunctions(on)
  await kim.ask({ question: 'slice', ...slice })
  kim.close()
  const search = () => searchSecrets(on.stack, on.told)
  expect(on.told).toHaveLength(1)
  expect(await search()).toEqual([])

  const [run] = on.stack.engine.executions().filter(({ status }) => status === 'SUCCEEDED')
  const [, token = ''] = /"token":"([^"]+)"/.exec(run?.output ?? '') ?? []
  expect(token).toMatch(/\/[0-9a-f-]{36}$/)
  on.told.push({ where: 'sharelock show', text: `locked by ${token}` })
  await appendFile(join(on.stack.logsFolder, 'planted.log'), `one line\n{"with":"${on.stack.database.app.password}"}\n`)
  run?.history.events.push({
    ...{ id: 999, previousEventId: 998, timestamp: 0, type: 'LambdaFunctionSucceeded' },
    lambdaFunctionSucceededEventDetails: { output: JSON.stringify({ token }) },
  })
  const found = await search()
  expect(found).toEqual([
    expect.stringMatching(/^planted\.log:2: a password or key/),
    expect.stringMatching(/999 LambdaFunctionSucceeded: a lock's token/),
    expect.stringMatching(/^sharelock show: a lock's token/),
  ])
  await expect(on.close()).rejects.toThrow('planted.log:2')
  stacks.pop()
})
