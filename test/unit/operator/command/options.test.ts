import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Output } from '../../../../operator/command/output.ts'
import { call } from '../../../support/operator.ts'

/* Options of the command itself: how it answers, and how it is interrupted. */

const NODE = [process.execPath, 'bin/sharelock.ts']

describe('--format', () => {
  test.each([
    [['show', '-d', 'ARIA', '-m', '2026-10', '-o', 'csv'], /^`show` answers with no list/],
    [['distributors', 'add', 'ARIA', '--format', 'csv'], /^`distributors add` answers with no list/],
    [['list', '--json', '-o', 'csv'], /^Give --json or --format, not both/],
    [['list', '-o', 'xml'], /Allowed choices are table, json, csv/],
  ])('%j is refused before anything is asked', async (args, sentence) => {
    const { code, stdout, stderr } = await call([...args, '--stage', 'prod'])
    // --json makes the refusal a document.
    const said = stdout === '' ? stderr : (JSON.parse(stdout) as { message: string }).message
    expect({ code, said }).toEqual({ code: 2, said: expect.stringMatching(sentence) })
  })

  test('-o json is --json: an error is a document too', async () => {
    const { code, stdout } = await call(['list', '-o', 'json'])
    expect({ code, document: JSON.parse(stdout) }).toMatchObject({ code: 2, document: { error: 'Usage' } })
  })

  test('a list as CSV has no formula in it, one record a line, and what has fields as JSON', () => {
    const written: string[] = []
    const write = process.stdout.write
    process.stdout.write = ((text: string) => written.push(text)) as never
    try {
      new Output('csv').records(
        ['id', 'why', 'detail', 'active', 'month'],
        [{ id: 7, why: '=cmd|"x"\n', detail: { rows: 3 }, active: true, month: null }],
      )
    } finally {
      process.stdout.write = write
    }
    expect(written.join('')).toBe('id,why,detail,active,month\r\n7,"\'=cmd|""x""\\u000a","{""rows"":3}","true",\r\n')
  })
})

describe('Ctrl-C', () => {
  /** Takes every request and answers none. */
  const silent = createServer(() => undefined)
  beforeAll(() => new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve)))
  afterAll(() => {
    silent.closeAllConnections()
    silent.close()
  })

  test('while AWS is asked ends with 130 and says so', async () => {
    const { port } = silent.address() as AddressInfo
    const [node = '', ...args] = NODE
    const env = {
      AWS_ENDPOINT_URL_LAMBDA: `http://127.0.0.1:${port}`,
      ...{ AWS_REGION: 'ap-northeast-2', AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x' },
    }
    const child = spawn(node, [...args, 'list', '--stage', 'prod'], { env })
    let stderr = ''
    child.stderr.on('data', (data) => (stderr += data))
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
    await new Promise((resolve) => silent.once('request', resolve))
    child.kill('SIGINT')
    expect(await ended).toBe(130)
    expect(stderr).toContain('Interrupted.')
  })
})

describe('completion', () => {
  const scriptOf = (shell: string): string =>
    spawnSync(NODE[0] ?? '', ['bin/sharelock.ts', 'completion', shell], { encoding: 'utf8' }).stdout

  test.each([
    ['sharelock sta', 'start'],
    ['sharelock distributors a', 'add'],
    ['sharelock --stage prod start --sup', '--supersede'],
    ['sharelock list --q', '--quiet'],
  ])('bash completes %j to %j', (line, expected) => {
    const words = line.split(' ')
    const script = `${scriptOf('bash')}
COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _sharelock; echo "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
    expect({ stdout, stderr }).toEqual({ stdout: `${expected}\n`, stderr: '' })
  })

  test('zsh takes the same through its own bridge, and fish knows each command with its summary', () => {
    expect(scriptOf('zsh')).toContain('bashcompinit')
    expect(scriptOf('fish')).toMatch(/-n '__sharelock_at '\\''distributors'\\''' -f -a add -d 'add a distributor/)
  })
})
