import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { expectSettled, jobsOf } from '../../../support/invariants.ts'
import { named, useOperator } from '../../../support/operator.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'

/* A person at a terminal is asked before a start; Debian's `script` is the terminal. */
const on = useStack()
const operator = useOperator(on)
const FILE = shareFile(60, 75)

/** Runs the command on a terminal, and types an answer once it asks. */
const typed = async (answer: string, ...args: string[]): Promise<{ code: number; said: string }> => {
  const line = [process.execPath, 'bin/sharelock.ts', ...args].map((word) => `'${word}'`).join(' ')
  const env = { PATH: process.env.PATH, NO_COLOR: '1', SHARELOCK_POLL_MS: '50', ...on().stack.environment }
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', line, '/dev/null'], { env })
  let said = ''
  let isAnswered = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (isAnswered || !said.includes('[y/N]')) return
    isAnswered = true
    child.stdin.write(answer)
  })
  const code = await new Promise<number>((resolve) => child.once('close', (ended) => resolve(ended ?? -1)))
  return { code, said }
}

test('who says no starts nothing, and who says yes starts what was shown', async () => {
  const slice = await on().newSlice()
  const path = await operator.file('asked.csv', FILE)
  const start = ['start', ...named(slice), '--file', path]
  for (const answer of ['n\n', '\n', 'yess\n']) {
    const { code, said } = await typed(answer, ...start)
    expect(said).toMatch(/register +60 rows[\s\S]*Start it\? \[y\/N\][\s\S]*Nothing was started\./)
    expect(code).toBe(6)
  }
  expect(await jobsOf(on(), slice)).toEqual([])
  const { code, said } = await typed('y\n', ...start)
  expect(said).toMatch(/registered 60 rows as job \d+/)
  expect(code).toBe(0)
  await expectSettled(on(), slice, FILE)
})
