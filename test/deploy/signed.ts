import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { Sha256 } from '@smithy/core/checksum'
import { HttpRequest } from '@smithy/core/protocols'
import { SignatureV4 } from '@smithy/signature-v4'
import { ACCOUNT, type Place, REGION } from './place.ts'

/** One call of a service that this project has no client of, signed like any other. */
export type Call = {
  readonly service: string
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: string
  readonly type?: string
}

/** Answers with the body, and fails with it where the service refuses. */
export const signedCall = async (
  place: Place,
  { service, method, path, query = {}, body, type }: Call,
): Promise<string> => {
  const { hostname, port, host } = new URL(place.emulator.url)
  const credentials = { accessKeyId: ACCOUNT, secretAccessKey: 'test' }
  const signer = new SignatureV4({ service, region: REGION, credentials, sha256: Sha256 })
  const headers = { host, ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }) }
  const parts = { method, protocol: 'https:', hostname, path, query: { ...query }, headers }
  const signed = await signer.sign(new HttpRequest(body === undefined ? parts : { ...parts, body }))
  const search = new URLSearchParams(query).toString()
  const ca = readFileSync(place.environment.NODE_EXTRA_CA_CERTS ?? '')
  const options = {
    hostname,
    port,
    method,
    path: search === '' ? path : `${path}?${search}`,
    headers: signed.headers,
    ca,
  }
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(options, resolve).once('error', reject).end(body)
  })
  const answered = await text(answer)
  if ((answer.statusCode ?? 500) >= 400)
    throw new Error(`${service} ${method} ${path}: ${answer.statusCode} ${answered}`)
  return answered
}

/** A call of the older services: an action and its parameters in a form, an answer in XML. */
export const queryCall = (place: Place, service: string, version: string, form: Readonly<Record<string, string>>) =>
  signedCall(place, {
    ...{ service, method: 'POST', path: '/', type: 'application/x-www-form-urlencoded; charset=utf-8' },
    body: new URLSearchParams({ Version: version, ...form }).toString(),
  })
