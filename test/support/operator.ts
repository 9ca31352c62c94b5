import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { ShareFile } from './share-file.ts'
import type { TestStack } from './test-stack.ts'

/** How a call of the command ended. */
export type Called = { readonly code: number; readonly stdout: string; readonly stderr: string }

export type Calling = {
  readonly ended: Promise<Called>
  readonly interrupt: () => void
  /** Waits for a text on stdout or stderr. */
  readonly said: (text: RegExp) => Promise<void>
}

/** No folder: a stack that the developer keeps up is none of a test's business. */
const NO_STATE = '/nonexistent'

/** Starts `sharelock` as a process of its own, as a shell does, without a terminal. */
const calling = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Calling => {
  const child = spawn(process.execPath, ['bin/sharelock.ts', ...args], {
    env: { PATH: process.env.PATH, XDG_STATE_HOME: NO_STATE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const heard = { stdout: '', stderr: '' }
  const listeners = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      heard[name] += text
      for (const listener of listeners) listener()
    })
  const ended = new Promise<Called>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? -1, ...heard }))
  })
  const said = async (text: RegExp): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const listener = () => {
      if (text.test(heard.stdout) || text.test(heard.stderr)) resolve()
    }
    listeners.add(listener)
    listener()
    const tooEarly = ended.then(({ code, stdout, stderr }) => {
      throw new Error(`The command ended with ${code} and never said ${text}:\n${stdout}\n${stderr}`)
    })
    await Promise.race([promise, tooEarly]).finally(() => listeners.delete(listener))
  }
  return { ended, interrupt: () => child.kill('SIGINT'), said }
}

/** Calls `sharelock` and waits for its end. */
export const call = (args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Called> =>
  calling(args, env).ended

/** An operator of a test's stack: calls go to it, files lie in a folder of the test. */
export type Operator = {
  readonly calling: (...args: string[]) => Calling
  readonly call: (...args: string[]) => Promise<Called>
  /** Calls with --json; the document must be the only line on stdout. */
  readonly json: <Document = Record<string, unknown>>(...args: string[]) => Promise<Document & { code: number }>
  /** Writes a file of this machine. @returns its path */
  readonly file: (name: string, file: Pick<ShareFile, 'csv'>) => Promise<string>
}

/** Looks follow each other closely: a test waits for what happens and not for the clock. */
const POLL_MS = '50'

export const useOperator = (on: () => TestStack): Operator => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sharelock-operator-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))
  const start = (...args: string[]): Calling => {
    const one = calling(args, { ...on().stack.environment, SHARELOCK_POLL_MS: POLL_MS })
    const where = `sharelock ${args.join(' ')}`
    void one.ended.then(
      ({ stdout, stderr }) => on().told.push({ where, text: stdout }, { where, text: stderr }),
      () => undefined,
    )
    return one
  }
  return {
    calling: start,
    call: (...args) => start(...args).ended,
    json: async <Document>(...args: string[]) => {
      const { code, stdout, stderr } = await start(...args, '--json').ended
      const lines = stdout.trimEnd().split('\n')
      if (lines.length !== 1 || lines[0] === '')
        throw new Error(`Not one line of JSON, with exit code ${code}: ${stdout}\n${stderr}`)
      const document = JSON.parse(lines[0] ?? '') as Document & { code: number }
      return Array.isArray(document) ? document : { ...document, code }
    },
    file: async (name, { csv }) => {
      const path = join(folder, name)
      await writeFile(path, csv)
      return path
    },
  }
}

/** The options that name a slice. */
export const named = ({ distributor, month }: { distributor: string; month: string }): string[] => [
  '--distributor',
  distributor,
  '--month',
  month,
]
