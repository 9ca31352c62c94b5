import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { expectSettled, jobsOf } from '../../../support/invariants.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import { useConsole } from './console-operator.ts'
import { FORM, requestsTo } from './requests.ts'

/* Who may talk to a console, and what it takes from them. */
const on = useStack()
const kim = useConsole(on)
const { ask, csrfAt } = requestsTo(kim)
const FILE = shareFile(40, 71)

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
