import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { MIMEType } from 'node:util'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'

/**
 * A browser sends one request and cannot go on after a break, so this is for files of everyday size: about 12 million
 * rows of plain CSV, or several times that in gzip. The command reads larger ones from the disk without a copy.
 */
export const UPLOAD_BYTES_MAX = 512 * 1_024 ** 2

/** The longest is a profile, with twenty names for each column. */
export const FIELD_BYTES_MAX = 32_768
const FIELDS_MAX = 10

/** The parser bounds a part's headers and says nothing where it cuts them; no field of the console is named so long. */
const NAME_CHARACTERS_MAX = 64

/** More in one form is no form of the console. */
const PARTS_MAX = FIELDS_MAX + 1

export class UploadTooLarge extends Error {}
export class MalformedUpload extends Error {}

export type Upload = {
  readonly fields: Readonly<Record<string, string>>
  /** Where the file lies, if one was chosen; a browser sends an empty one otherwise. */
  readonly file: string | null
}

/** Where uploads go, what they may have, and a check of the fields that came before the file, which throws. */
export type UploadRules = {
  readonly folder: string
  readonly bytesMax: number
  readonly check: (fields: Upload['fields']) => void
}

/**
 * Reads a form with at most one file, which has to be its last part: its fields are checked before a byte of it is
 * written. The file is readable for this user alone and is removed again where anything goes wrong.
 * @throws UploadTooLarge, MalformedUpload
 */
export const receiveUpload = async (request: IncomingMessage, rules: UploadRules): Promise<Upload> => {
  if (Number(request.headers['content-length'] ?? 0) > rules.bytesMax + FIELDS_MAX * FIELD_BYTES_MAX)
    throw new UploadTooLarge()
  const form = formParser(request.headers['content-type'], rules.bytesMax)
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  const malformed = (message: string) => () => fail(new MalformedUpload(message))
  const fields: Record<string, string> = {}
  const giveUp = new AbortController()
  let file: Promise<string | null> | undefined
  form.on('field', (name: string | undefined, value, _isNameCut, isValueCut) => {
    if (name === undefined) return malformed('A part of the upload has no name')()
    if (name.length > NAME_CHARACTERS_MAX) return malformed('A field has too long a name')()
    if (Object.hasOwn(fields, name)) return malformed(`The field ${name} comes twice`)()
    if (isValueCut) return malformed(`A field has more than ${FIELD_BYTES_MAX} bytes`)()
    if (file !== undefined) return malformed('A field comes behind the file')()
    fields[name] = value
  })
  form.on('file', (_name, stream, filename: string | undefined) => {
    stream.on('error', malformed('The upload ends too early'))
    stream.on('limit', () => fail(new UploadTooLarge()))
    try {
      rules.check(fields)
      file = receiveFile(stream, filename ?? '', rules.folder, giveUp.signal)
      file.catch(fail)
    } catch (error) {
      fail(error)
    }
  })
  for (const limit of ['fieldsLimit', 'filesLimit', 'partsLimit'] as const)
    form.on(limit, malformed('The form has too many parts'))
  form.on('error', (error) => malformed(`The upload cannot be read: ${(error as Error).message}`)())
  try {
    await Promise.race([feed(form, request), failed])
    if (file === undefined) rules.check(fields)
    return { fields, file: (await Promise.race([file, failed])) ?? null }
  } catch (error) {
    giveUp.abort()
    const path = await file?.catch(() => null)
    if (path != null) await rm(path, { force: true })
    throw error
  }
}

/** @throws MalformedUpload where the type is another one, or names no boundary */
const formParser = (type: string | undefined, fileSize: number): BusboyInstance => {
  const limits = { fileSize, files: 1, fields: FIELDS_MAX, fieldSize: FIELD_BYTES_MAX, parts: PARTS_MAX }
  try {
    if (new MIMEType(type ?? '').essence === 'multipart/form-data')
      return new Busboy({ headers: { 'content-type': type ?? '' }, limits })
  } catch {}
  throw new MalformedUpload('The request is not a form with a file')
}

/** Gives the body to the parser, no faster than the file is written. Ends once the parser has seen the form's end. */
const feed = async (form: BusboyInstance, request: IncomingMessage): Promise<void> => {
  // A request that is destroyed half way could not be answered any more.
  for await (const piece of request.iterator({ destroyOnReturn: false }))
    await new Promise<void>((taken, failed) => {
      form.write(piece, (error) => (error ? failed(error) : taken()))
    })
  await new Promise<void>((finished) => {
    form.once('finish', finished)
    form.end()
  })
}

const receiveFile = async (
  stream: BusboyFileStream,
  filename: string,
  folder: string,
  signal: AbortSignal,
): Promise<string | null> => {
  const path = join(folder, `${randomUUID()}-${plainName(filename)}`)
  const handle = await open(path, 'wx', 0o600)
  try {
    await pipeline(stream, handle.createWriteStream(), { signal })
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
  if (stream.bytesRead > 0 || filename !== '') return path
  await rm(path, { force: true })
  return null
}

/** The name as its sender gave it, without anything a path or a shell could take for something else. */
const plainName = (filename: string): string =>
  basename(filename)
    .replaceAll(/[^0-9A-Za-z._-]/g, '_')
    .slice(-60) || 'file'
