import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const secret = (): string => randomBytes(32).toString('base64url')

/** Digests have one length, which timingSafeEqual needs and which tells nothing about the secret's. */
const equals = (given: string, expected: string): boolean => {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

/** A change that no page of this console asked for. */
export class ForeignRequest extends Error {}

/**
 * The one session of a console. Other users of the machine can reach a loopback port as well, so the address that was
 * printed works once: it is traded for a cookie, and anyone who finds it later in a shell's or browser's history has
 * nothing. The cookie is for the home's paths alone, see home.ts.
 */
export class BrowserSession {
  readonly token = secret()
  /** The path that all pages lie below. */
  readonly home = `/${secret()}`
  /** Is in every form: a request that another page makes the browser send has the cookie, but not this. */
  readonly csrf = secret()
  #entered = false
  readonly #cookie = secret()

  /** Whether the token would be taken. Asking does not use it. */
  admits(token: string): boolean {
    return !this.#entered && equals(token, this.token)
  }

  /** Trades the token for the cookie's value; null where it is wrong or has been used. */
  enter(token: string): string | null {
    if (!this.admits(token)) return null
    this.#entered = true
    return this.#cookie
  }

  isOpenTo(cookie: string | undefined): boolean {
    return this.#entered && cookie !== undefined && equals(cookie, this.#cookie)
  }

  /** @throws ForeignRequest where a form does not carry the session's secret */
  requireOwnForm(csrf: unknown): void {
    if (typeof csrf !== 'string' || !equals(csrf, this.csrf)) throw new ForeignRequest()
  }
}
