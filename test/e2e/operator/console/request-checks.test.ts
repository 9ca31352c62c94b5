import { readdir, stat } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { startConsole } from '../../../../operator/console/server.ts'
import { createOperations } from '../../../../operator/create-operations.ts'
import { expectSettled, jobsOf } from '../../../support/invariants.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import { useConsole } from './console-operator.ts'
import { homeOf } from './home.ts'

/* Who may talk to a console, and what it takes from them. Requests are made by hand: no browser would send some of them. */
const on = useStack()
const UPLOAD_BYTES_MAX = 40_000
const kim = useConsole(on, { uploadBytesMax: UPLOAD_BYTES_MAX })

const FILE = shareFile(40, 71)

type RequestOptions = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** With the session's cookie; true by default. */
  readonly isSignedIn?: boolean
}

type Answer = { readonly status: number; readonly headers: NodeJS.Dict<string | string[]>; readonly text: string }

const ask = async (path: string, { method = 'GET', headers = {}, body, isSignedIn = true }: RequestOptions = {}) => {
  const cookies = await kim().page.context().cookies()
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  return await new Promise<Answer>((resolve, reject) => {
    const all = { ...(isSignedIn ? { cookie } : {}), ...headers }
    const sent = request(`${kim().home}${path}`, { method, headers: all, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** A form of the page at this address, with its secret. */
const csrfAt = async (path: string): Promise<string> =>
  /name="csrf" value="([^"]+)"/.exec((await ask(path)).text)?.[1] ?? ''

const FORM = 'application/x-www-form-urlencoded'

const uploads = async (): Promise<string[]> => (await readdir(kim().folder)).map((name) => join(kim().folder, name))

const multipart = (fields: Readonly<Record<string, string>>, file: string) => {
  const part = (disposition: string, text: string) =>
    `--limit\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${text}\r\n`
  const parts = Object.entries(fields).map(([name, value]) => part(`name="${name}"`, value))
  const body = `${parts.join('')}${part('name="file"; filename="a.csv"', file)}--limit--\r\n`
  return { body, type: 'multipart/form-data; boundary=limit' }
}

test('the printed address works once; a second browser is told to start again', async () => {
  const again = await ask(kim().url.slice(kim().home.length), { isSignedIn: false })
  expect(again).toMatchObject({ status: 403 })
  expect(again.headers['set-cookie'] ?? []).not.toContainEqual(expect.stringMatching(/^sharelock-\d+=/))
  expect(again.text).toContain('An address works once.')
  expect(again.text).toContain('Run `sharelock console` again')
  expect(await ask('/enter?token=guess', { isSignedIn: false })).toMatchObject({ status: 403 })
})

test('looking at the printed address does not use it up; pressing its button does, once', async () => {
  const other = await startConsole({ operations: createOperations(process.env) })
  try {
    const home = homeOf(other.url)
    const token = new URL(other.url).searchParams.get('token') ?? ''
    const headers = { 'content-type': FORM, origin: new URL(other.url).origin }
    const press = (body: string, more = {}) =>
      fetch(`${home}/enter`, { method: 'POST', headers: { ...headers, ...more }, body, redirect: 'manual' })
    for (const method of ['HEAD', 'GET', 'HEAD', 'GET']) {
      const looked = await fetch(other.url, { method })
      expect({ status: looked.status, cookies: looked.headers.getSetCookie() }).toEqual({ status: 200, cookies: [] })
    }
    expect((await press(`token=${token}`, { origin: 'http://evil.example' })).status).toBe(403)
    expect((await press('token=guess')).status).toBe(403)
    const entered = await press(`token=${token}`)
    expect(entered.status).toBe(303)
    expect(entered.headers.getSetCookie()).toEqual([expect.stringContaining(`Path=${new URL(home).pathname};`)])
    expect((await press(`token=${token}`)).status).toBe(403)
    expect((await fetch(other.url)).status).toBe(403)
  } finally {
    await other.close()
  }
})

test('another server of this computer, opened in the same browser, is sent nothing of the session', async () => {
  const heard: string[] = []
  const other = createServer((request, response) => {
    heard.push(`${request.url} ${JSON.stringify(request.headers)}`)
    response.setHeader('content-type', 'text/html')
    response.end('<link rel="stylesheet" href="/assets/console.css"><img src="/start"><p>Hello</p>')
  })
  await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening))
  try {
    const { port } = other.address() as AddressInfo
    const page = await kim().page.context().newPage()
    for (const path of ['/', '/enter', '/slices/ARIA/2026-10', '/start']) {
      await page.goto(`${kim().home}/`)
      // As a link on the console's own page would lead there.
      await Promise.all([
        page.waitForURL(`http://127.0.0.1:${port}${path}`),
        page.evaluate(`location.href = "http://127.0.0.1:${port}${path}"`),
      ])
      await page.goto(`http://127.0.0.1:${port}${path}`)
    }
    const cookies = await kim().page.context().cookies()
    await page.close()
    expect(heard.length).toBeGreaterThan(8)
    const session = cookies.filter(({ name }) => name === `sharelock-${new URL(kim().origin).port}`)
    const secrets = [new URL(kim().home).pathname.slice(1), ...session.map(({ value }) => value)]
    expect(secrets).toHaveLength(2)
    for (const secret of secrets) expect(heard.filter((line) => line.includes(secret))).toEqual([])
    expect(heard.filter((line) => line.includes(`sharelock-${new URL(kim().origin).port}`))).toEqual([])
  } finally {
    other.closeAllConnections()
    other.close()
  }
})

test('outside its own path the console says no more than how to get in, with or without the cookie', async () => {
  const cookies = await kim().page.context().cookies()
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  for (const path of ['/', '/start', '/assets/console.css', `${new URL(kim().home).pathname}x/`, '/enter?token=x']) {
    expect((await fetch(`${kim().origin}${path}`)).status).toBe(401)
    const known = await fetch(`${kim().origin}${path}`, { headers: { cookie } })
    expect(known.status).toBe(404)
  }
})

test.each(['/', '/start', '/slices/ARIA/2026-10', '/assets/console.js', '/nothing'])(
  'without the cookie %s says no more than how to get in',
  async (path) => {
    const answer = await ask(path, { isSignedIn: false })
    expect(answer.status).toBe(401)
    expect(answer.text).not.toContain('csrf')
    const foreign = await ask(path, { isSignedIn: false, headers: { cookie: 'sharelock-1=guess' } })
    expect(foreign.status).toBe(401)
  },
)

test('the session is in a cookie that no script reads and no other site sends', async () => {
  const [session] = (await kim().page.context().cookies()).filter(({ name }) => /^sharelock-\d+$/.test(name))
  expect(session).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: new URL(kim().home).pathname })
  expect(session?.value.length).toBeGreaterThanOrEqual(43)
})

test.each(['evil.example', 'evil.example:80', '127.0.0.1', 'localhost:1', '127.0.0.1.nip.io'])(
  'a request to the host %s is not for this console',
  async (host) => {
    expect(await ask('/', { headers: { host } })).toMatchObject({
      status: 421,
      text: 'This console has another name.\n',
    })
  },
)

test('localhost is another name of it', async () => {
  const host = `localhost:${new URL(kim().origin).port}`
  expect(await ask('/', { headers: { host } })).toMatchObject({ status: 200 })
})

test('it listens on 127.0.0.1 and on no other address, not even of loopback', async () => {
  const socket = connect({ host: '127.0.0.2', port: Number(new URL(kim().origin).port) })
  const outcome = await new Promise<string>((resolve) => {
    socket.on('connect', () => resolve('connected'))
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
  })
  socket.destroy()
  expect(outcome).toBe('ECONNREFUSED')
})

test('every answer forbids scripts, styles, frames and forms from or to elsewhere', async () => {
  const { headers } = await ask('/')
  const policy = String(headers['content-security-policy'])
  for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"])
    expect(policy).toContain(rule)
  for (const rule of ["form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) expect(policy).toContain(rule)
  expect(policy).not.toContain('unsafe')
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
})

test.each(['resume', 'stop', 'unlock', 'undo'])('no link does anything: GET of %s is refused', async (action) => {
  const answer = await ask(`/slices/ARIA/2026-10/${action}`)
  expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } })
  expect(await ask('/plans')).toMatchObject({ status: 405, headers: { allow: 'POST' } })
  expect(await ask('/plans/1/start')).toMatchObject({ status: 405, headers: { allow: 'POST' } })
})

test('a change that another origin asks for, or that does not carry the secret of the form, is refused', async () => {
  const slice = await on().newSlice()
  await on().run({ ...slice, source: await on().upload(FILE) })
  await on().run({ ...slice, source: await on().upload(shareFile(50, 72)) })
  const csrf = await csrfAt(`/slices/${slice.distributor}/2026-10`)
  expect(csrf).not.toBe('')
  const own = { 'content-type': FORM, origin: kim().origin }
  const path = `/slices/${slice.distributor}/2026-10/undo`
  const post = (headers: Record<string, string>, body: string) => ask(path, { method: 'POST', headers, body })
  for (const origin of ['http://evil.example', 'null', kim().origin.replace('127.0.0.1', 'localhost')])
    expect(await post({ ...own, origin }, `csrf=${csrf}`)).toMatchObject({ status: 403 })
  expect(await post({ 'content-type': FORM }, `csrf=${csrf}`)).toMatchObject({ status: 403 })
  expect(await post(own, 'csrf=guess')).toMatchObject({ status: 403 })
  expect(await post(own, '')).toMatchObject({ status: 403 })
  expect(await ask(path, { method: 'POST', headers: own, body: `csrf=${csrf}`, isSignedIn: false })).toMatchObject({
    status: 401,
  })
  expect(await post(own, `csrf=${csrf}`)).toMatchObject({ status: 303 })
  expect(await jobsOf(on(), slice)).toHaveLength(2)
})

test("a page on another port of this computer, whose forms carry the session's cookie, stops nothing", async () => {
  const slice = await on().newSlice()
  await on().run({ ...slice, source: await on().upload(FILE) })
  const action = `${kim().home}/slices/${slice.distributor}/2026-10/stop`
  const csrf = await csrfAt('/start')
  const evil = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(
      `<form method="post" action="${action}"><input name="csrf" value="${csrf}"><button>Win</button></form>`,
    )
  })
  await new Promise<void>((listening) => evil.listen(0, '127.0.0.1', listening))
  try {
    const page = await kim().page.context().newPage()
    await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`)
    const [sent] = await Promise.all([page.waitForRequest(action), page.getByRole('button', { name: 'Win' }).click()])
    const response = await sent.response()
    expect((await sent.allHeaders()).cookie).toContain('sharelock-')
    expect(response?.status()).toBe(403)
    expect(await page.locator('main').textContent()).toContain('did not come from a page of this console')
    await page.close()
  } finally {
    evil.closeAllConnections()
    evil.close()
  }
  await expectSettled(on(), slice, FILE)
})

test('an upload is kept for its user alone until it is started, and a refused one not at all', async () => {
  const slice = await on().newSlice()
  await kim().check(slice, FILE)
  await kim().see(/^Replace /)
  const [file = '', ...others] = await uploads()
  expect(others).toEqual([])
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  await kim().press('Start')
  await kim().see(/registered 40 rows/)
  expect(await uploads()).toEqual([])
  await kim().check(slice, { csv: 'isrc,right_type,party_id,share\n' })
  await kim().see(/is refused$/)
  expect(await uploads()).toEqual([])
})

test('a file above the limit is refused and leaves nothing, whether its length is told or not', async () => {
  const slice = await on().newSlice()
  const csrf = await csrfAt('/start')
  const { body, type } = multipart({ csrf, ...slice }, 'x'.repeat(UPLOAD_BYTES_MAX + 1))
  const headers = { 'content-type': type, origin: kim().origin }
  const told = { ...headers, 'content-length': String(Buffer.byteLength(body)) }
  expect(await ask('/plans', { method: 'POST', headers: told, body })).toMatchObject({ status: 413 })
  const untold = { ...headers, 'transfer-encoding': 'chunked' }
  const answer = await ask('/plans', { method: 'POST', headers: untold, body })
  expect(answer).toMatchObject({ status: 413 })
  expect(answer.text).toContain('too large')
  expect(await uploads()).toEqual([])
})

test('while a small upload that unpacks to much is checked, pages are answered', async () => {
  const slice = await on().newSlice()
  const csrf = await csrfAt('/start')
  const bomb = gzipSync(`isrc,right_type,party_id,share\n${'KRA012600001,P,A,1\n'.repeat(600_000)}`)
  const { body, type } = multipart({ csrf, ...slice }, bomb.toString('latin1'))
  const headers = { 'content-type': type, origin: kim().origin }
  let isChecked = false
  const check = ask('/plans', { method: 'POST', headers, body: Buffer.from(body, 'latin1') }).finally(() => {
    isChecked = true
  })
  for (const path of ['/', ...Array<string>(10).fill('/assets/icon.svg')])
    expect(await ask(path)).toMatchObject({ status: 200 })
  expect(isChecked).toBe(false)
  const { status, headers: answered } = await check
  expect(status).toBe(303)
  expect((await ask(String(answered.location).slice(new URL(kim().home).pathname.length))).text).toContain(
    'of 600,000 errors',
  )
})

test('an upload without the secret of the form, or cut off, leaves nothing', async () => {
  const slice = await on().newSlice()
  const { body, type } = multipart({ csrf: 'guess', ...slice }, FILE.csv)
  const headers = { 'content-type': type, origin: kim().origin }
  expect(await ask('/plans', { method: 'POST', headers, body })).toMatchObject({ status: 403 })
  const csrf = await csrfAt('/start')
  const own = multipart({ csrf, ...slice }, FILE.csv).body
  const cut = await ask('/plans', { method: 'POST', headers, body: own.slice(0, -200) })
  expect(cut).toMatchObject({ status: 400 })
  expect(await uploads()).toEqual([])
})

test('the browser says that a file is too large before it sends it', async () => {
  const slice = await on().newSlice()
  await kim().open(`/start?distributor=${slice.distributor}&month=2026-10`)
  const input = kim().page.getByLabel('File on this computer')
  await input.setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.alloc(UPLOAD_BYTES_MAX + 1) })
  await kim().press('Check the file')
  expect(await kim().page.evaluate('document.querySelector("[type=file]").validationMessage')).toContain('gzip')
  expect(new URL(kim().page.url()).pathname).toMatch(/^\/[\w-]{43}\/start$/)
})
