import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { Operations } from '../operations/operations.ts'
import type { BrowserSession } from './browser-session.ts'
import { belowHome, pathInside } from './home.ts'
import { layout, type Page, type View } from './pages/layout.ts'
import type { Plans } from './parts/plans.ts'
import type { Language } from './words/language.ts'
import { wordsOf } from './words/language.ts'

/** What a console works with. */
export type Console = {
  readonly operations: Operations
  readonly session: BrowserSession
  readonly plans: Plans
  /** Where uploads lie until they are started. */
  readonly folder: string
  readonly uploadBytesMax: number
  /** `127.0.0.1:port` and `localhost:port`: every other Host is somebody's name for this address. */
  readonly hosts: ReadonlySet<string>
  readonly cookie: string
  /** The caller's name once it is known: no page waits for it. */
  readonly identity: () => string | null
}

export type Env = { Bindings: HttpBindings }
export type ConsoleRequest = Context<Env>

type Status = 200 | 400 | 403 | 404 | 405 | 409 | 413 | 422 | 500 | 503

export const languageOf = (c: ConsoleRequest): Language => (c.get('language') === 'ko' ? 'ko' : 'en')

export const viewOf = (desk: Console, c: ConsoleRequest): View => {
  const url = new URL(c.req.url)
  url.searchParams.delete('lang')
  url.pathname = pathInside(desk.session.home, url.pathname) ?? url.pathname
  return {
    words: wordsOf(languageOf(c)),
    language: languageOf(c),
    stage: desk.operations.stage,
    identity: desk.identity(),
    csrf: desk.session.csrf,
    url,
  }
}

export const answer = async (
  { session }: Console,
  c: ConsoleRequest,
  view: View,
  page: Page,
  status: Status = 200,
): Promise<Response> => c.html(belowHome(session.home, String(await layout(view, page))), status)

/** On to another page of the console, after a change. */
export const goTo = ({ session }: Console, c: ConsoleRequest, address: string): Response =>
  c.redirect(`${session.home}${address}`, 303)
