import { spawnSync } from 'node:child_process'
import { expect, inject, test } from 'vitest'

const preflight = (args: readonly string[], env: Readonly<Record<string, string>>) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['preflight/main.ts', ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', AWS_EC2_METADATA_DISABLED: 'true', ...env },
  })
  return { status, lines: stdout.trim().split('\n'), stderr }
}

test("is green against the local stack's servers, and leaves nothing of itself", () => {
  const mysql = inject('mysql')
  const valkey = inject('valkey')
  const { status, lines, stderr } = preflight(['--against', 'local'], {
    SHARELOCK_MYSQL: `${mysql.host}:${mysql.port}`,
    SHARELOCK_MYSQL_USER: mysql.user,
    SHARELOCK_MYSQL_PASSWORD: mysql.password,
    SHARELOCK_VALKEY: `${valkey.host}:${valkey.port}`,
  })
  expect(lines, stderr).toEqual([
    expect.stringMatching(/^ok {7}MySQL at/),
    expect.stringMatching(/^ok {7}Valkey at/),
    '',
    'Nothing is lacking.',
  ])
  expect(status).toBe(0)
})

test('is red for a stage whose values are still examples, and asks nobody about an account that nobody owns', () => {
  const { status, lines } = preflight(['--stage', 'prod'], {})
  expect(status).toBe(1)
  expect(lines.filter((line) => line.includes('is an example'))).toHaveLength(5)
  expect(lines.find((line) => line.startsWith('lacks    credentials'))).toBeDefined()
  expect(lines.at(-1)).toBe('6 things are lacking.')
})

test('says how it is used, and which stages there are', () => {
  const { status, lines } = preflight([], {})
  expect(status).toBe(2)
  expect(lines.at(-1)).toBe('The stages are: local, dev, staging, prod')
})
