import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import { useConsole } from './console-operator.ts'
import { requestsTo } from './requests.ts'

/* Who may talk to a console, and what it takes from them. */
const on = useStack()
const UPLOAD_BYTES_MAX = 40_000
const kim = useConsole(on, { uploadBytesMax: UPLOAD_BYTES_MAX })
const { ask, csrfAt } = requestsTo(kim)
const FILE = shareFile(40, 71)

const uploads = async (): Promise<string[]> => (await readdir(kim().folder)).map((name) => join(kim().folder, name))

const multipart = (fields: Readonly<Record<string, string>>, file: string) => {
  const part = (disposition: string, text: string) =>
    `--limit\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${text}\r\n`
  const parts = Object.entries(fields).map(([name, value]) => part(`name="${name}"`, value))
  const body = `${parts.join('')}${part('name="file"; filename="a.csv"', file)}--limit--\r\n`
  return { body, type: 'multipart/form-data; boundary=limit' }
}

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
