import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { startConsole } from '../../../../operator/console/server.ts'
import { createOperations } from '../../../../operator/create-operations.ts'
import { useStack } from '../../../support/stack.ts'
import { useConsole } from './console-operator.ts'
import { homeOf } from './home.ts'
import { FORM, requestsTo } from './requests.ts'

/* Who may talk to a console, and what it takes from them. */
const on = useStack()
const kim = useConsole(on)
const { ask } = requestsTo(kim)

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
