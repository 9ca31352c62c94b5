import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import iconv from 'iconv-lite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call } from '../../../support/operator.ts'

/* What needs no stack: the help, the exit codes, validate, and how numbers and tables are written. */
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sharelock-command-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const file = async (name: string, body: string | Buffer): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, body)
  return path
}

const HEADER = 'isrc,right_type,party_id,share'

const GOOD = `${HEADER}\nKRA012600001,PERFORMANCE,P1,75\nKRA012600001,PERFORMANCE,P2,25\nKRA012600002,MECHANICAL,P1,33.333333\n`

describe('validate', () => {
  test('accepts a good file with a summary, without AWS and without a stage', async () => {
    const path = await file('good.csv', GOOD)
    const { code, stdout, stderr } = await call(['validate', path])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      new RegExp(
        `^${path}: accepted\n {2}rows +3\n {2}tracks +2\n {2}parties +2\n {2}sum of shares +133.333333\n {2}encoding +ascii\n`,
      ),
    )
  })

  test('says which encoding and which compression it found', async () => {
    const named = GOOD.replace(HEADER, `${HEADER},메모`).replaceAll(/(\d)\n/g, '$1,뷁\n')
    const path = await file('cp949.csv.gz', gzipSync(iconv.encode(named, 'cp949')))
    const { code, stdout } = await call(['validate', path, '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      file: path,
      accepted: true,
      encoding: 'cp949',
      gzip: true,
      ignoredColumns: ['메모'],
      summary: { rows: 3, chunks: 1 },
      rejection: null,
    })
  })

  test('refuses a bad file with 3, naming line, column, value and rule of each error', async () => {
    const path = await file('bad.csv', `${GOOD}KRA012600003,PERFORMANCE,P1,33.3%\nxx,PERFORMANCE,P1,"1,234"\n`)
    const { code, stdout } = await call(['validate', path])
    expect(code).toBe(3)
    expect(stdout.split('\n')).toEqual([
      `${path} (ascii): refused, 3 errors`,
      '  line 5, column 4: share "33.3%" has a percent sign; write the number alone, e.g. 33.3. [share-percent-sign]',
      '  line 6, column 1: isrc "xx" is not an ISRC: 2 letters, 3 letters or digits, 7 digits, e.g. KRA012600001. [isrc-format]',
      '  line 6, column 4: share "1,234" has a thousands separator; a share is a percentage of at most 100. [share-thousands-separator]',
      '',
    ])
    const document = JSON.parse((await call(['validate', path, '--json'])).stdout)
    expect(document).toMatchObject({ accepted: false, summary: null, rejection: { total: 3 } })
    expect(document.rejection.errors[0]).toMatchObject({
      line: 5,
      column: 4,
      field: 'share',
      value: '33.3%',
      rule: 'share-percent-sign',
    })
    expect((await call(['validate', path, '--errors', '1'])).stdout).toMatch(/\n {2}\.\.\. and 2 errors more\n$/)
  })

  test("judges by the distributor's sum rule and party scheme where they are given", async () => {
    const path = await file('rules.csv', GOOD)
    const { stdout } = await call(['validate', path, '--sum-rule', 'exact', '--party-scheme', 'ipi', '--json'])
    const rules = JSON.parse(stdout).rejection.errors.map(({ rule }: { rule: string }) => rule)
    expect(rules).toContain('ipi-format')
    expect((await call(['validate', path, '--sum-rule', 'exact'])).stdout).toContain('[sum-below-100]')
  })

  test('shows what a file, its columns and its name would hide, one line each', async () => {
    const forged = '\u001b[2K\u202e\r\nshares.csv: accepted'
    const path = await file(
      'a\nb: accepted\u202e.csv',
      `${HEADER},"no${forged}te"\nKRA01\u200b2600001,P,"${forged}",1,x\n`,
    )
    for (const args of [
      ['validate', path],
      ['validate', path, '--json'],
    ]) {
      const { code, stdout } = await call(args)
      expect(code).toBe(3)
      expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
      expect(stdout).not.toMatch(/^(shares.csv|b): accepted/m)
      expect(stdout).toMatch(/KRA01\\u200b2600001/)
    }
    const { stdout } = await call(['validate', path])
    expect(stdout.split('\n')).toHaveLength(5)
    const document = JSON.parse((await call(['validate', path, '--json'])).stdout)
    expect(document).toMatchObject({ file: path, ignoredColumns: [`no${forged}te`] })
  })

  test('shows what the name of a file that is not there would hide', async () => {
    const { stderr } = await call(['validate', '/nowhere/\u001b[1A\n\u202eok'])
    expect(stderr).toBe('There is no file /nowhere/\\u001b[1A\\u000a\\u202eok.\n')
  })

  test.each([
    ['a file that is not there', ['validate', '/nowhere/shares.csv'], 8, 'There is no file /nowhere/shares.csv.'],
    ['a folder', ['validate', '/'], 2, '/ is not a file.'],
  ])('%s is a sentence', async (_, args, code, sentence) => {
    expect(await call(args)).toEqual({ code, stdout: '', stderr: `${sentence}\n` })
  })
})

describe('a reader that closes the pipe', () => {
  /** As in a shell, with a real pipe: the codes of both ends, and what stderr was told. */
  const piped = (line: string) =>
    spawnSync('bash', ['--norc', '-c', `${line}; echo "codes ${'$'}{PIPESTATUS[*]}"`], {
      env: { PATH: process.env.PATH, NODE: process.execPath },
      encoding: 'utf8',
    })

  // What fits into a pipe is written before its reader is gone: only where nobody reads at all it is sure to be noticed.
  test.each([
    ['validate BAD | true', /codes 141 0/],
    ['validate --json BAD | true', /codes 141 0/],
    ['--help | true', /codes 141 0/],
    ['frobnicate 2>&1 >/dev/null | true', /codes 141 0/],
    ['validate --json BAD | head -c 100', /codes (3|141) 0/],
    ['validate BAD | cat > /dev/null', /codes 3 0/],
  ])('%s: the command ends without a word', async (line, codes) => {
    const bad = await file('many.csv', `${HEADER}\n${'KRA012600001,P,A,x\n'.repeat(999)}`)
    const { stdout, stderr } = piped(`"$NODE" bin/sharelock.ts ${line.replace('BAD', bad)}`)
    expect(stderr).toBe('')
    expect(stdout).toMatch(codes)
  })
})
