import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { languageDetector } from 'hono/language'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { getPath } from 'hono/utils/url'
import { actionRoutes } from './action-routes.ts'
import { answer, type Console, type Env, viewOf } from './context.ts'
import { pathInside } from './home.ts'
import { IDIOMORPH } from './library.ts'
import { overviewData, sliceData, sliceOf } from './page-data.ts'
import { ACTIONS, askPage } from './pages/ask.ts'
import { overviewPage } from './pages/overview.ts'
import { problemPage } from './pages/problem.ts'
import { slicePage } from './pages/slice.ts'
import { problem } from './problems.ts'
import { profileRoutes } from './profile-routes.ts'
import { reportRoutes } from './report-routes.ts'
import { askToEnter, enter, headers, ownHost, ownOrigin, signedIn } from './request-checks.ts'
import { setRoutes } from './set-routes.ts'
import { startRoutes } from './start-routes.ts'
import { UploadTooLarge } from './upload.ts'
import type { Words } from './words/en.ts'
import { LANGUAGES } from './words/language.ts'

/** A form without a file: a few short fields. */
const FORM_BYTES_MAX = 16 * 1_024

const own = (name: string): string => join(import.meta.dirname, 'assets', name)
const JAVASCRIPT = 'text/javascript; charset=utf-8'

/** Each with its file, the library's included: a console works without a network. */
const ASSETS = [
  { name: 'console.css', file: own('console.css'), type: 'text/css; charset=utf-8' },
  { name: 'console.js', file: own('console.js'), type: JAVASCRIPT },
  { name: 'idiomorph.js', file: IDIOMORPH, type: JAVASCRIPT },
  { name: 'icon.svg', file: own('icon.svg'), type: 'image/svg+xml' },
] as const

/** What an address may ask to be said at the top of a slice's page: a name, never a text of its own. */
const NOTICES = {
  Started: 'noticeStarted',
  Joined: 'noticeJoined',
  Resumed: 'noticeResumed',
  Stopped: 'noticeStopped',
  Ended: 'noticeEnded',
  NotStopped: 'noticeNotStopped',
  Unlocked: 'noticeUnlocked',
  NotUnlocked: 'noticeNotUnlocked',
  Undone: 'noticeUndone',
  Withdrawn: 'noticeWithdrawn',
  NotWithdrawn: 'noticeNotWithdrawn',
} as const satisfies Record<string, keyof Words>

const noticeOf = (words: Words, name: string | undefined): string | null =>
  name !== undefined && Object.hasOwn(NOTICES, name) ? words[NOTICES[name as keyof typeof NOTICES]] : null

/** The whole console: checks first, then looks by GET, then changes by POST. */
export const consoleApp = (desk: Console): Hono<Env> => {
  const { operations } = desk
  const { home } = desk.session
  const pathOf = (request: Request): string => {
    const path = getPath(request)
    // No page lies outside: the path before it keeps it from being taken for one inside.
    return pathInside(home, path) ?? `/outside${path}`
  }
  const app = new Hono<Env>({ getPath: pathOf })
  app.onError((error, c) => problem(desk, c, error))
  app.notFound(async (c) => {
    const view = viewOf(desk, c)
    return await answer(desk, c, view, problemPage(view, 'NotFound', view.words.problemPage, false), 404)
  })

  app.use(headers)
  app.use(ownHost(desk))
  app.use(
    languageDetector({
      supportedLanguages: [...LANGUAGES],
      fallbackLanguage: 'en',
      lookupCookie: 'sharelock-language',
      cookieOptions: { sameSite: 'Strict', httpOnly: true, path: home },
    }),
  )
  app.get('/enter', askToEnter(desk))
  app.post('/enter', ownOrigin, bodyLimit({ maxSize: FORM_BYTES_MAX }), enter(desk))
  app.use(signedIn(desk))
  app.use(ownOrigin)
  app.use(
    methodNotAllowed<Env>({
      app,
      onMethodNotAllowed: async (c, methods) => {
        const view = viewOf(desk, c)
        const page = await answer(desk, c, view, problemPage(view, 'Usage', view.words.problemMethod, false), 405)
        page.headers.set('Allow', methods.join(', '))
        return page
      },
    }),
  )
  const tooLarge = (): never => {
    throw new UploadTooLarge()
  }
  app.use('/slices/*', bodyLimit({ maxSize: FORM_BYTES_MAX, onError: tooLarge }))
  app.use('/plans/:id/start', bodyLimit({ maxSize: FORM_BYTES_MAX, onError: tooLarge }))

  for (const { name, file, type } of ASSETS)
    app.get(`/assets/${name}`, async (c) => c.body(await readFile(file), 200, { 'Content-Type': type }))

  app.get('/', async (c) => {
    const view = viewOf(desk, c)
    return await answer(desk, c, view, overviewPage(view, await overviewData(operations, c.req.query('to'))))
  })

  app.get('/slices/:distributor/:month', async (c) => {
    const view = viewOf(desk, c)
    const slice = sliceOf(c.req.param('distributor'), c.req.param('month'))
    const { job, execution, notice } = c.req.query()
    const look = await sliceData(operations, slice, { job, execution })
    return await answer(desk, c, view, slicePage(view, { ...look, notice: noticeOf(view.words, notice) }))
  })

  for (const action of ACTIONS)
    app.get(`/slices/:distributor/:month/ask/${action}`, async (c) => {
      const view = viewOf(desk, c)
      const report = await operations.show(sliceOf(c.req.param('distributor'), c.req.param('month')))
      return await answer(desk, c, view, askPage(view, action, report, null))
    })

  app.route('/', startRoutes(desk))
  app.route('/', actionRoutes(desk))
  app.route('/', reportRoutes(desk))
  app.route('/', profileRoutes(desk))
  app.route('/', setRoutes(desk))
  return app
}
