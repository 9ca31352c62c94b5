import { getCookie, setCookie } from 'hono/cookie'
import { createMiddleware } from 'hono/factory'
import { secureHeaders } from 'hono/secure-headers'
import { ForeignRequest } from './browser-session.ts'
import { type Console, type ConsoleRequest, type Env, goTo, languageOf } from './context.ts'
import { belowHome } from './home.ts'
import { doorPage, enterPage } from './pages/problem.ts'
import { wordsOf } from './words/language.ts'

/*
 * Who may talk to a console: the browser that was given the address, from the console's own pages. Checked in this order,
 * before anything is read or asked of AWS.
 */

/** Nothing but the console's own files, no frame around it, no form to elsewhere; no inline script or style. */
export const headers = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
  },
  // `no-referrer` would make the browser send `Origin: null` with our own forms.
  referrerPolicy: 'same-origin',
  xFrameOptions: 'DENY',
  // Plain HTTP on loopback: there is nothing to upgrade to.
  strictTransportSecurity: false,
})

/** A page of another site whose name was made to resolve to 127.0.0.1 (DNS rebinding) still sends its own name as Host. */
export const ownHost = (desk: Console) =>
  createMiddleware<Env>(async (c, next) => {
    if (!desk.hosts.has(c.req.header('host') ?? '')) return c.text('This console has another name.\n', 421)
    // What is shown is the state of this moment, and some of it is for nobody else.
    c.header('Cache-Control', 'no-store')
    return await next()
  })

const refuseToken = (c: ConsoleRequest) => {
  const words = wordsOf(languageOf(c))
  return c.html(enterPage(words, languageOf(c), words.enterUsed), 403)
}

/** GET of `/enter?token=...` only asks: the preview of a chat, or `curl -I`, must not use the address up. */
export const askToEnter =
  ({ session }: Console) =>
  (c: ConsoleRequest) => {
    const token = c.req.query('token') ?? ''
    if (!session.admits(token)) return refuseToken(c)
    return c.html(belowHome(session.home, String(doorPage(wordsOf(languageOf(c)), languageOf(c), token))))
  }

/** POST of the form that it answers with: once, the token is traded for the session's cookie. */
export const enter = (desk: Console) => async (c: ConsoleRequest) => {
  const { token } = await c.req.parseBody()
  const cookie = desk.session.enter(typeof token === 'string' ? token : '')
  if (cookie === null) return refuseToken(c)
  // Below the home alone: a cookie for `/` goes to every port of this computer that the browser opens.
  setCookie(c, desk.cookie, cookie, { httpOnly: true, sameSite: 'Strict', path: desk.session.home })
  return goTo(desk, c, '/')
}

export const signedIn = (desk: Console) =>
  createMiddleware<Env>(async (c, next) => {
    if (desk.session.isOpenTo(getCookie(c, desk.cookie))) return await next()
    const words = wordsOf(languageOf(c))
    return c.html(enterPage(words, languageOf(c), words.enterMissing), 401)
  })

/** Everything that is not a plain look has to come from a page of this very address, as the browser itself says. */
export const ownOrigin = createMiddleware<Env>(async (c, next) => {
  const isLook = c.req.method === 'GET' || c.req.method === 'HEAD'
  if (!isLook && c.req.header('origin') !== `http://${c.req.header('host')}`) throw new ForeignRequest()
  return await next()
})
