import { request } from 'node:http'
import type { ConsoleOperator } from './console-operator.ts'

export const FORM = 'application/x-www-form-urlencoded'

type RequestOptions = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** With the session's cookie; true by default. */
  readonly isSignedIn?: boolean
}

type Answer = { readonly status: number; readonly headers: NodeJS.Dict<string | string[]>; readonly text: string }

/** Requests to a console that are made by hand: no browser would send some of them. */
export const requestsTo = (kim: () => ConsoleOperator) => {
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

  /** The secret of the forms of the page at this address. */
  const csrfAt = async (path: string): Promise<string> =>
    /name="csrf" value="([^"]+)"/.exec((await ask(path)).text)?.[1] ?? ''

  return { ask, csrfAt }
}
