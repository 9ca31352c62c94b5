import type { Command } from 'commander'
import { quoted } from '../../functions/contract/visible.ts'
import { OperationError } from '../operations/operation-error.ts'
import { acting } from './command-context.ts'
import { INTERRUPTED } from './interrupted.ts'

type Options = { readonly port?: string }

export const addConsole = (program: Command): void => {
  program
    .command('console')
    .summary('see and do all of it in a browser')
    .description(
      'Serves a console on this computer alone, with your own credentials, until Ctrl-C. It prints an address that opens\nit once, in one browser.',
    )
    .option('--port <port>', 'a port of 127.0.0.1; by default a free one')
    .addHelpText('after', '\nExamples:\n  sharelock console --stage prod\n  sharelock console --stage prod --port 8484')
    .action(
      acting(async ({ out, operations }, { port }: Options) => {
        const { startConsole } = await import('../console/server.ts')
        const console = await startConsole({ operations: await operations(), port: portOf(port) }).catch(portTaken)
        out.document({ url: console.url })
        out.answer(console.url)
        out.note('The address opens once, in one browser. Ctrl-C ends the console; runs go on.')
        const signal = await interrupted()
        await console.close()
        return signal === 'SIGINT' ? INTERRUPTED : 0
      }),
    )
}

const portOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new OperationError('Usage', `--port is a port number, and ${quoted(text)} is none.`)
}

const portTaken = (error: NodeJS.ErrnoException): never => {
  if (error.code !== 'EADDRINUSE') throw error
  throw new OperationError('Usage', 'Another program has this port. Leave --port out for a free one: sharelock console')
}

const interrupted = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve)
  })
