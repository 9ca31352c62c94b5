import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

/* The command in a pseudo-terminal, which `script` opens; every Debian has it. */

const folder = mkdtempSync(join(tmpdir(), 'sharelock-terminal-'))
const FILE = join(folder, 'a-name-that-is-rather-long-for-a-narrow-terminal-and-is-cut.csv')
writeFileSync(FILE, 'isrc,right_type,party_id,share\nKRA012600001,P,A,75\nKRA012600001,P,B,25\n')
afterAll(() => rmSync(folder, { recursive: true }))

const inTerminal = (columns: number, options = '', env: Readonly<Record<string, string>> = {}): string => {
  const line = `stty cols ${columns}; ${process.execPath} bin/sharelock.ts validate ${FILE} ${options}`
  const { stdout } = spawnSync('script', ['-qfec', line, '/dev/null'], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, TERM: 'xterm', ...env },
  })
  return stdout
}

/** How a line that is redrawn is taken away again. */
const REDRAWN = '\r\u001b[2K'
const GREEN = '\u001b[32maccepted'

test.each([60, 80, 120])(
  'at %i columns progress is one line that does not wrap, and is gone before the answer',
  (columns) => {
    const [progress = '', answer = ''] = inTerminal(columns).split(REDRAWN)
    expect(progress.length).toBeGreaterThan(0)
    expect(progress.length).toBeLessThan(columns)
    expect(answer).toContain(`${FILE}: ${GREEN}`)
  },
)

test('--quiet draws nothing, and NO_COLOR leaves colours out', () => {
  expect(inTerminal(80, '--quiet')).toMatch(new RegExp(`^${FILE}: `))
  const plain = inTerminal(80, '--quiet', { NO_COLOR: '1' })
  expect(plain).toContain(`${FILE}: accepted`)
})

test('JSON has the terminal to itself but for progress, and no colour', () => {
  const [, answer = ''] = inTerminal(80, '--json').split(REDRAWN)
  const document = answer === '' ? inTerminal(80, '--json --quiet') : answer
  expect(JSON.parse(document)).toMatchObject({ rejection: null })
})
