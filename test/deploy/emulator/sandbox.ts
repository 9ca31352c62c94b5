import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import tls from 'node:tls'

/*
 * Loaded into each of the emulator's Node processes before a bundle. It gives the bundle what Lambda and RDS have and the
 * emulator has not; the bundle itself is the deployed one.
 */

// The bundles trust RDS's own authorities and no others, and nobody but RDS has a certificate of theirs. This run's
// authority is added to each list of them; everything else is checked as ever.
const authority = readFileSync(process.env.SHARELOCK_TEST_AUTHORITY ?? '', 'utf8')
const createSecureContext = tls.createSecureContext
tls.createSecureContext = (options = {}) =>
  createSecureContext(options.ca === undefined ? options : { ...options, ca: [options.ca, authority].flat() })

// Lambda tells an error's name; the emulator reads the stack only. See extensions.py, with_error_names.
const wrapper = (bundle: string): string => `
import { handler as inner } from ${JSON.stringify(`${bundle}?bundle`)}
export const handler = async (event, context) => {
  try {
    return await inner(event, context)
  } catch (error) {
    error.stack = 'sharelock-error-name ' + error.name + '\\n' + error.stack
    throw error
  }
}
`
registerHooks({
  load: (url, context, next) =>
    url.endsWith('/code/index.mjs')
      ? { format: 'module', shortCircuit: true, source: wrapper(url) }
      : next(url, context),
})

// The emulator is gone: nobody waits for an answer, and a connection to a store would keep this process.
process.stdin.once('end', () => process.exit())
