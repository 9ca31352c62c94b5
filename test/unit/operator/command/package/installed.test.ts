import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packed from '../../../../../package.json' with { type: 'json' }
import { HEADER_ROW, number, row, text, workbookOf } from '../../../../support/workbook.ts'

/* What `npm pack` makes, installed as an operator does it, without a network, and run by every Node that is here. */

const folder = mkdtempSync(join(tmpdir(), 'sharelock-installed-'))
const prefix = join(folder, 'prefix')
const COMMAND = join(prefix, 'bin', 'sharelock')
const SOURCE = join(import.meta.dirname, '../../../../../bin/sharelock.ts')
const HEADER = 'isrc,right_type,party_id,share'
const ROWS = 'KRA012600001,P,A,75\nKRA012600001,P,B,25\n'
const FILES: Readonly<Record<string, string | Buffer>> = {
  'good.csv': `${HEADER}\n${ROWS}`,
  'bad.csv': `${HEADER}\n${ROWS}KRA012600003,P,A,33.3%\n`,
  'good.csv.gz': gzipSync(`${HEADER}\n${ROWS}`),
  'sheet.xlsx': workbookOf({
    sheets: { 정산: HEADER_ROW + row(text('KRA012600001'), text('P'), text('A'), number('75')) },
  }),
  'sheet.json': JSON.stringify({ format: { kind: 'xlsx', sheet: '정산' } }),
}

/** This Node, and each other one on the PATH. */
const NODES = new Map(
  [process.execPath, ...(process.env.PATH ?? '').split(':').map((path) => join(path, 'node'))].flatMap((node) => {
    const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
    return status === 0 ? [[stdout.trim(), node] as const] : []
  }),
)

const npm = (cwd: string, ...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`)
  return stdout
}

let installed: string[] = []
beforeAll(() => {
  npm('.', 'pack', '--silent', '--pack-destination', folder)
  const [archive = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  installed = npm(folder, 'install', '-g', '--offline', '--no-audit', '--prefix', prefix, `./${archive}`).split('\n')
  for (const [name, bytes] of Object.entries(FILES)) writeFileSync(join(folder, name), bytes)
})
afterAll(() => rmSync(folder, { recursive: true }))

const run = (node: string, program: string, args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(node, [program, ...args], { cwd: folder, encoding: 'utf8', env: {} })
  return { status, stdout, stderr }
}

test('it is one package, under a name that no registry can answer for another', () => {
  expect(installed.join('\n')).toContain('added 1 package ')
  expect(packed.name).toMatch(/^@sharelock\//)
  expect(Object.keys(packed)).not.toContain('dependencies')
  const entries = readdirSync(join(prefix, 'lib/node_modules/@sharelock/command'))
  expect(entries.sort()).toEqual(['README.md', 'dist', 'package.json'])
})

describe.each([...NODES])('%s', (_version, node) => {
  test('prints its version', () => {
    expect(run(node, COMMAND, ['--version'])).toEqual({ status: 0, stdout: `${packed.version}\n`, stderr: '' })
  })

  test.each([
    [0, '--help'],
    [0, 'validate good.csv'],
    [0, 'validate good.csv.gz --json'],
    [3, 'validate bad.csv'],
    [0, 'validate sheet.xlsx --profile sheet.json'],
    [0, 'profile propose good.csv'],
    [8, 'validate none.csv'],
    [2, 'list'],
    [2, 'list --stage prod'],
  ])('ends with %i and says what the code says: %s', (code, line) => {
    const said = run(node, COMMAND, line.split(' '))
    expect(said.status, said.stderr).toBe(code)
    expect(said).toEqual(run(process.execPath, SOURCE, line.split(' ')))
  })

  test('serves the console with its own files', async () => {
    const env = { AWS_REGION: 'ap-northeast-2', AWS_EC2_METADATA_DISABLED: 'true' }
    const child = spawn(node, [COMMAND, 'console', '--stage', 'prod', '--json'], { env, cwd: folder })
    try {
      const said = await new Promise<string>((resolve) => child.stdout.once('data', (data) => resolve(String(data))))
      const { url } = JSON.parse(said) as { url: string }
      const [home = '', token = ''] = url.split('/enter?token=')
      const entered = await fetch(`${home}/enter`, {
        method: 'POST',
        headers: { origin: new URL(url).origin, 'content-type': 'application/x-www-form-urlencoded' },
        body: `token=${token}`,
        redirect: 'manual',
      })
      const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
      for (const name of ['console.css', 'console.js', 'idiomorph.js', 'icon.svg'])
        expect([name, (await fetch(`${home}/assets/${name}`, { headers: { cookie } })).status]).toEqual([name, 200])
    } finally {
      child.kill('SIGKILL')
    }
  })
})
