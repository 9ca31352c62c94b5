import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { boundaryOf, MalformedUpload, type Part, partsOf, textOf } from './multipart.ts'

/**
 * A browser sends one request and cannot go on after a break, so this is for files of everyday size: about 12 million
 * rows of plain CSV, or several times that in gzip. The command reads larger ones from the disk without a copy.
 */
export const UPLOAD_BYTES_MAX = 512 * 1_024 ** 2

const FIELD_BYTES_MAX = 2_048
const FIELDS_MAX = 10

export class UploadTooLarge extends Error {}

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
  const boundary = boundaryOf(request.headers['content-type'])
  if (boundary === null) throw new MalformedUpload('The request is not a form with a file')
  if (Number(request.headers['content-length'] ?? 0) > rules.bytesMax + FIELDS_MAX * FIELD_BYTES_MAX)
    throw new UploadTooLarge()
  const fields: Record<string, string> = {}
  // A request that is destroyed half way could not be answered any more.
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  for await (const part of partsOf(body, boundary)) {
    if (part.filename !== null) {
      rules.check(fields)
      return { fields, file: await receiveFile(part, rules) }
    }
    if (Object.keys(fields).length >= FIELDS_MAX) throw new MalformedUpload('The form has too many fields')
    fields[part.name] = await textOf(part.pieces, FIELD_BYTES_MAX)
  }
  rules.check(fields)
  return { fields, file: null }
}

const receiveFile = async (part: Part, rules: UploadRules): Promise<string | null> => {
  const file = join(rules.folder, `${randomUUID()}-${plainName(part.filename ?? '')}`)
  let bytes = 0
  async function* bounded(): AsyncGenerator<Buffer> {
    for await (const piece of part.pieces) {
      bytes += piece.length
      if (bytes > rules.bytesMax) throw new UploadTooLarge()
      yield piece
    }
  }
  try {
    await pipeline(bounded, createWriteStream(file, { flags: 'wx', mode: 0o600 }))
  } catch (error) {
    await rm(file, { force: true })
    throw error
  }
  if (bytes > 0 || part.filename !== '') return file
  await rm(file, { force: true })
  return null
}

/** The name as its sender gave it, without anything a path or a shell could take for something else. */
const plainName = (filename: string): string =>
  basename(filename)
    .replaceAll(/[^0-9A-Za-z._-]/g, '_')
    .slice(-60) || 'file'
