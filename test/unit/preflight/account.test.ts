import { createServer, type Server } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { concurrencyNeeded } from '../../../infra/config/connections.ts'
import { lookAtPlace, lookAtQuotas } from '../../../preflight/account.ts'
import { linesOf } from '../../../preflight/lacks.ts'
import { lookAtStores } from '../../../preflight/stores.ts'
import { lookAtPipelineValues, lookAtValues } from '../../../preflight/values.ts'
import { deployed, EXISTING } from '../../infra/existing.ts'

/* AWS's answers, as its API documents them; which account it is the test says. */
type Account = {
  id: string
  concurrency: number
  memoryMb: number
  isBootstrapped: boolean
  mayCreate: boolean
  secret: string
}
const ESTABLISHED: Account = {
  id: EXISTING.account,
  concurrency: 1_000,
  memoryMb: 10_240,
  isBootstrapped: true,
  mayCreate: true,
  secret: '{"username":"master","password":"secret"}',
}
let account: Account
const made: string[] = []

type Answer = { status: number; type?: string; text?: string; error?: string }

const identity = (): Answer => ({
  status: 200,
  type: 'text/xml',
  text: `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>arn:aws:iam::${account.id}:user/kim</Arn><UserId>A</UserId><Account>${account.id}</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`,
})

const created = (body: string): Answer => {
  const { MemorySize, Role, FunctionName } = JSON.parse(body) as Record<string, string | number>
  if (!account.mayCreate)
    return {
      status: 403,
      error: 'AccessDeniedException',
      text: '{"Message":"not authorized to perform: lambda:CreateFunction"}',
    }
  if (Number(MemorySize) > account.memoryMb)
    return {
      status: 400,
      error: 'ValidationException',
      text: JSON.stringify({
        message: `1 validation error detected: Value '${MemorySize}' at 'memorySize' failed to satisfy constraint: Member must have value less than or equal to ${account.memoryMb}`,
      }),
    }
  if (String(Role).endsWith('no-such-role'))
    return {
      status: 400,
      error: 'InvalidParameterValueException',
      text: '{"message":"The role defined for the function cannot be assumed by Lambda."}',
    }
  made.push(String(FunctionName))
  return { status: 201, text: '{}' }
}

const answer = (method: string, url: string, body: string): Answer => {
  if (body.includes('GetCallerIdentity')) return identity()
  if (method === 'HEAD') return { status: account.isBootstrapped ? 200 : 404 }
  if (body.includes('SecretId'))
    return { status: 200, type: 'application/x-amz-json-1.1', text: JSON.stringify({ SecretString: account.secret }) }
  if (url.includes('/account-settings'))
    return { status: 200, text: JSON.stringify({ AccountLimit: { ConcurrentExecutions: account.concurrency } }) }
  return created(body)
}

let server: Server
beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '' } = request
      const {
        status,
        type = 'application/json',
        text = '',
        error,
      } = answer(method, url, Buffer.concat(chunks).toString())
      response.writeHead(status, {
        'content-type': type,
        ...(error === undefined ? {} : { 'x-amzn-errortype': error }),
      })
      response.end(method === 'HEAD' ? undefined : text)
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
})
afterAll(() => server.close())

beforeEach(() => {
  account = { ...ESTABLISHED }
  const { port } = server.address() as { port: number }
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${port}`)
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
  vi.stubEnv('AWS_MAX_ATTEMPTS', '1')
})
afterEach(() => vi.unstubAllEnvs())

const config = deployed({ ...EXISTING, sourceMemoryMb: 8_192, reservedConcurrency: true })
const needed = concurrencyNeeded(config)

describe('an account', () => {
  test('that is prepared lacks nothing, and nothing was made in it', async () => {
    expect(linesOf(await lookAtPlace(config))).toEqual([
      expect.stringContaining(`ok       account ${EXISTING.account}`),
      expect.stringContaining('ok       bootstrap'),
    ])
    expect(linesOf(await lookAtQuotas(config))).toEqual([
      `ok       Lambda concurrency: 1000, and the stage needs ${needed}`,
      'ok       Lambda memory: 8192 MB',
    ])
    expect(made).toEqual([])
  })

  test("that is somebody else's is told before anything else is asked of it", async () => {
    account.id = '666666666666'
    expect(linesOf(await lookAtPlace(config))).toEqual([
      expect.stringMatching(/^lacks {4}account: Your credentials are of account 666666666666, and the stage is for 5/),
    ])
  })

  test('that was never bootstrapped is told the command', async () => {
    account.isBootstrapped = false
    expect(linesOf(await lookAtPlace(config)).at(-1)).toMatch(
      /^lacks {4}bootstrap: .*npx cdk bootstrap aws:\/\/555555555555\/ap-northeast-2/,
    )
  })

  test('that is young is told what to turn, or to ask for', async () => {
    account.concurrency = 10
    account.memoryMb = 3_008
    const lines = linesOf(await lookAtQuotas(config))
    expect(lines).toEqual([
      expect.stringMatching(
        `^lacks    lambda-concurrency: The account may run 10 functions at once, and the stage needs ${needed}, since it reserves`,
      ),
      expect.stringMatching(
        /^lacks {4}lambda-memory: Lambda gives this account 3008 MB .*Set sourceMemoryMb of the stage to 3008/,
      ),
    ])
    expect(linesOf(await lookAtQuotas({ ...config, sourceMemoryMb: 3_008 })).join('\n')).toContain(
      'ok       Lambda memory: 3008 MB',
    )
  })

  test('that may not be asked is not called fine', async () => {
    account.mayCreate = false
    expect(linesOf(await lookAtQuotas(config)).at(-1)).toMatch(/^unknown {2}Lambda memory: not authorized/)
  })
})

describe('the existing stores of a stage', () => {
  // Nobody listens there.
  const nowhere = deployed({
    ...EXISTING,
    database: { ...EXISTING.database, endpoint: 'mysql.localhost', port: 1 },
    lock: { ...EXISTING.lock, endpoint: 'valkey.localhost', port: 1 },
  })

  test('are asked with the logins that the functions will have, and out of reach it says from where to ask', async () => {
    const lines = linesOf(await lookAtStores(nowhere, {}))
    expect(lines).toEqual([
      expect.stringMatching(/^unknown {2}Valkey at valkey\.localhost:1: .*SHARELOCK_VALKEY_USER/),
      expect.stringMatching(
        /^lacks {4}mysql-reached: MySQL at mysql\.localhost:1 does not let us in: .* inside the VPC/,
      ),
      expect.stringMatching(/^lacks {4}lock: Valkey did not answer for guest:\{sharelock:preflight:2099-12\}:lock/),
    ])
  })

  test('whose secret is no login are told by the secret, without what it holds', async () => {
    account.secret = '{"user":"x","pass":"hidden"}'
    const text = linesOf(await lookAtStores(nowhere, {})).join('\n')
    expect(text).toMatch(/master-secret: The secret arn:.*settlement-AbCdEf does not give a username and a password/)
    expect(text).not.toContain('hidden')
  })
})

describe('the values of a stage', () => {
  test('that are still examples are named, one by one', () => {
    const examples = deployed({
      ...EXISTING,
      smokeFrom: '444444444444',
      alarms: { ...EXISTING.alarms, emails: ['me@example.com'] },
    })
    expect(linesOf(lookAtValues(examples)).map((line) => line.replace(/ is an example.*/, ''))).toEqual([
      'lacks    example-values: The account of guest 555555555555',
      'lacks    example-values: The account in smokeFrom of guest 444444444444',
      "lacks    example-values: The address of guest's alarms me@example.com",
    ])
    expect(
      lookAtValues({
        ...examples,
        account: '123456789012',
        smokeFrom: undefined,
        alarms: { ...examples.alarms, emails: [] },
      }).lacks,
    ).toEqual([])
  })

  test('of the pipeline likewise: account, connection, repository, address', () => {
    expect(lookAtPipelineValues().lacks).toHaveLength(4)
  })
})
