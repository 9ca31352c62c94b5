import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { FIELD_BYTES_MAX, MalformedUpload, receiveUpload, UploadTooLarge } from '../../../../operator/console/upload.ts'

const BOUNDARY = '----WebKitFormBoundary7MA4YWxkTrZu0gW'
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`
const BYTES_MAX = 1_000

const folder = mkdtempSync(join(tmpdir(), 'sharelock-upload-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What a console does with a request of this body, cut into pieces. */
const receive = async (body: Buffer, cuts: readonly number[] = [], type = TYPE, check = () => {}) => {
  const ends = [...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length]
  const pieces = ends.map((end, index) => body.subarray(ends[index - 1] ?? 0, end)).filter(({ length }) => length > 0)
  const request = Object.assign(Readable.from(pieces), { headers: { 'content-type': type } })
  const rules = { folder, bytesMax: BYTES_MAX, check }
  return await receiveUpload(request as unknown as IncomingMessage, rules)
}

const part = (disposition: string, content: Buffer | string): Buffer =>
  Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data${disposition}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
const field = (name: string, value: string) => part(`; name="${name}"`, value)
const fileOf = (content: Buffer | string, name = '정산 10월.csv') => part(`; name="file"; filename="${name}"`, content)
const form = (...parts: Buffer[]) => Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)])

/** Bytes that look like the beginning of a boundary, among others. */
const content = fc
  .array(fc.oneof(fc.constantFrom('\r\n', '--', `\r\n--${BOUNDARY.slice(0, 9)}`, '\r', '한글', 'a,b'), fc.string()))
  .map((pieces) => Buffer.from(pieces.join('')))
  .filter(({ length }) => length <= BYTES_MAX)

const left = (): string[] => readdirSync(folder)

test('an upload is read to the same bytes wherever the network cuts it', async () => {
  await fc.assert(
    fc.asyncProperty(content, fc.array(fc.nat()), async (bytes, cuts) => {
      const { fields, file } = await receive(form(field('month', '2026-10'), fileOf(bytes)), cuts)
      expect(fields).toEqual({ month: '2026-10' })
      expect(readFileSync(file ?? '')).toEqual(bytes)
      rmSync(file ?? '')
    }),
  )
})

test('an upload that ends before its end is refused and leaves nothing', async () => {
  const body = form(field('month', '2026-10'), fileOf('isrc,share'))
  for (let end = 0; end < body.length - 4; end += 1)
    await expect(receive(body.subarray(0, end)), String(end)).rejects.toThrow(MalformedUpload)
  expect(left()).toEqual([])
})

test('a form without a chosen file has none', async () => {
  const unchosen = part('; name="file"; filename=""\r\nContent-Type: application/octet-stream', '')
  expect(await receive(form(field('key', 'incoming/a'), unchosen))).toEqual({
    fields: { key: 'incoming/a' },
    file: null,
  })
  expect(await receive(form(field('key', 'incoming/a')))).toEqual({ fields: { key: 'incoming/a' }, file: null })
  expect(left()).toEqual([])
})

test('a file has at most so many bytes', async () => {
  const { file } = await receive(form(fileOf('x'.repeat(BYTES_MAX))))
  rmSync(file ?? '')
  await expect(receive(form(fileOf('x'.repeat(BYTES_MAX + 1))), [50, 800, 1_100])).rejects.toThrow(UploadTooLarge)
  expect(left()).toEqual([])
})

test.each([
  ['a second file', [fileOf('a'), fileOf('b')]],
  ['a field behind the file', [fileOf('a'), field('month', '2026-10')]],
  ['a long field', [field('month', 'x'.repeat(FIELD_BYTES_MAX + 1))]],
  ['a long name of a field', [field('m'.repeat(65), 'x')]],
  ['a name that the parser cuts', [field('m'.repeat(100_000), 'x')]],
  ['a field twice', [field('month', '2026-10'), field('month', '2026-11')]],
  ['many fields', Array.from({ length: 11 }, (_, index) => field(`f${index}`, 'x'))],
  ['a field without a name', [part('', 'x')]],
])('a form with %s is refused and leaves nothing', async (_, parts) => {
  await expect(receive(form(...parts))).rejects.toThrow(MalformedUpload)
  expect(left()).toEqual([])
})

test('a field of the longest value is read whole, and one byte more is refused, wherever the network cuts it', async () => {
  const whole = 'x'.repeat(FIELD_BYTES_MAX)
  const longer = form(field('profile', `${whole}y`))
  const ends = longer.indexOf('y')
  const cuts = [...Array.from({ length: 2 * BOUNDARY.length }, (_, index) => ends - 4 + index), 1, 60, 130, 16_384]
  for (const cut of cuts) {
    expect((await receive(form(field('profile', whole)), [cut])).fields, String(cut)).toEqual({ profile: whole })
    await expect(receive(longer, [cut]), String(cut)).rejects.toThrow(MalformedUpload)
    await expect(receive(form(field('profile', `${whole}y`), fileOf('a')), [cut]), String(cut)).rejects.toThrow(
      MalformedUpload,
    )
  }
  expect(left()).toEqual([])
})

test('every other limit is seen wherever the network cuts the form', async () => {
  const many = form(...Array.from({ length: 11 }, (_, index) => field(`f${index}`, 'x')))
  const large = form(fileOf('x'.repeat(BYTES_MAX + 1)))
  for (const [body, error] of [
    [form(fileOf('a'), fileOf('b')), MalformedUpload],
    [many, MalformedUpload],
    [large, UploadTooLarge],
  ] as const)
    for (let cut = 0; cut <= body.length; cut += 1)
      await expect(receive(body, [cut]), String(cut)).rejects.toThrow(error)
  expect(left()).toEqual([])
})

test('no byte of a file is written before its fields are checked', async () => {
  const refuse = () => {
    throw new Error('forged')
  }
  await expect(receive(form(field('csrf', 'guess'), fileOf('a')), [], TYPE, refuse)).rejects.toThrow('forged')
  expect(left()).toEqual([])
})

test('a body of another type, or without a boundary, is refused', async () => {
  const body = form(field('month', '2026-10'))
  expect(await receive(body, [], `multipart/form-data; charset=utf-8; boundary="${BOUNDARY}"`)).toMatchObject({
    fields: { month: '2026-10' },
  })
  const others = [
    '',
    'multipart/form-data',
    `text/plain; boundary=${BOUNDARY}`,
    `multipart/mixed; boundary=${BOUNDARY}`,
  ]
  for (const type of [...others, 'application/x-www-form-urlencoded'])
    await expect(receive(body, [], type), type).rejects.toThrow(MalformedUpload)
})
