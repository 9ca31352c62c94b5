import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Command } from 'commander'
import iconv from 'iconv-lite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FAILURES } from '../../../../functions/contract/failure-table.ts'
import { EXIT_CODES } from '../../../../operator/command/exit-codes.ts'
import { buildProgram } from '../../../../operator/command/program.ts'
import { duration } from '../../../../operator/format/duration.ts'
import { table } from '../../../../operator/format/table.ts'
import { bar, counted, percent } from '../../../../operator/format/text.ts'
import { OPERATION_ERRORS } from '../../../../operator/operations/operations.ts'
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

describe('wrong arguments end with 2', () => {
  test.each([
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['validate'], "missing required argument 'file'"],
    [['list', '--quite'], "unknown option '--quite'"],
    [['list', '--from', '2026-13', '--stage', 'local'], '"2026-13" is not a settlement month such as 2026-10.'],
    [['list', '--from', '2026-10', '--to', '2026-09', '--stage', 'local'], '--from 2026-10 is after --to 2026-09.'],
    [
      ['list', '--from', '2000-01', '--to', '2026-10', '--stage', 'local'],
      '2000-01 to 2026-10 are 322 months, and 24 are shown at most. Give --to, or a later --from.',
    ],
    [['list'], 'No stage is named: give --stage, e.g. --stage prod, or set SHARELOCK_STAGE.'],
    [
      ['list', '--stage', 'No Stage'],
      '"No Stage" is no stage: give --stage, e.g. --stage prod, or set SHARELOCK_STAGE.',
    ],
    [['start', '-d', 'ARIA', '--file', 'a.csv'], 'Name the slice: --distributor CODE --month YYYY-MM.'],
    [['start', '-d', 'ARIA', '-m', '2026-10'], 'Name the source: either --file PATH or --source KEY.'],
    [
      ['start', '-d', 'ARIA', '-m', '2026-10', '--source', 'a.csv'],
      '--source is a key under incoming/, or the 64 digits of a staged source.',
    ],
    [['show', 'x', '--stage', 'local'], '"x" is not a job\'s number.'],
    [['stop', '7', '-d', 'ARIA', '--stage', 'local'], 'Name either a job or a slice, not both.'],
    [['audit', '--limit', '0', '--stage', 'local'], '--limit is a number from 1 to 500.'],
  ])('%j', async (args, sentence) => {
    const { code, stdout } = await call([...args, '--json'])
    expect({ code, document: JSON.parse(stdout) }).toEqual({ code: 2, document: { error: 'Usage', message: sentence } })
  })
})

describe('the help', () => {
  const helpOf = (command: Command): string => {
    let text = ''
    command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
    return text
  }
  const program = buildProgram()

  test('of each command has a summary and an example that begins with its name', () => {
    for (const command of program.commands) {
      expect(command.summary(), command.name()).not.toBe('')
      if (command.commands.length === 0)
        expect(helpOf(command)).toMatch(new RegExp(`Examples?:\n {2}sharelock ${command.name()}`))
    }
  })

  test('lists every exit code, as docs/operator.md does', async () => {
    expect(EXIT_CODES.map(({ code }) => code)).toEqual([0, ...Object.values(OPERATION_ERRORS), 130, 141])
    const help = helpOf(program)
    const page = await readFile('docs/operator.md', 'utf8')
    const inPage = [...page.matchAll(/^\| (\d+) \| (\w*) *\| (.+?) *\|$/gm)].map(([, code, name, meaning]) => ({
      code: Number(code),
      name,
      meaning,
    }))
    expect(inPage).toEqual(EXIT_CODES)
    for (const { code, name, meaning } of EXIT_CODES)
      expect(help).toMatch(new RegExp(`^ {2}${code} +${name} +${meaning.replace(/[.?]/g, '\\$&')}$`, 'm'))
  })

  test('is asked for with 0, and shown with 2 where nothing was', async () => {
    expect(await call(['--help'])).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('Usage: sharelock'),
    })
    expect(await call([])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Usage: sharelock') })
  })

  test('leaves out no name in docs/operator.md by which a run or a job may end, and names each once', async () => {
    const page = await readFile('docs/operator.md', 'utf8')
    const named = [...page.matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)].flatMap(([, names]) => names?.match(/\w+/g) ?? [])
    const ends = Object.entries(FAILURES).flatMap(([name, { end }]) => (end === null ? [] : [name]))
    expect(named.sort()).toEqual(ends.sort())
  })

  test('names no command in docs/operator.md that there is not', async () => {
    const page = await readFile('docs/operator.md', 'utf8')
    const verbs = new Set([...page.matchAll(/^(?:\$ |.*`)sharelock ([a-z]+)/gm)].map(([, verb]) => verb))
    expect(program.commands.map((command) => command.name())).toEqual(expect.arrayContaining([...verbs]))
  })
})

describe('text', () => {
  test('columns are aligned behind names of any script, and a line break does not break them', () => {
    const rows = [
      ['아리아 뮤직', '1,600', 'one'],
      ['B\nC', '20', 'two'],
    ]
    expect(table(rows, [1])).toEqual(['아리아 뮤직  1,600  one', 'B\\u000aC        20  two'])
    expect(table([])).toEqual([])
  })

  test('columns are aligned, with names of any script in the last one', () => {
    const rows = [
      ['code', 'rows', 'name'],
      ['ARIA', '1,600', '아리아 뮤직'],
      ['B', '20', 'Bee'],
    ]
    expect(table(rows, [1])).toEqual(['code   rows  name', 'ARIA  1,600  아리아 뮤직', 'B        20  Bee'])
  })

  test('a percentage is 100 only at the end, and a bar is full only then', () => {
    expect([percent(0, 0), percent(999, 1_000), percent(1_000, 1_000)]).toEqual(['0 %', '99 %', '100 %'])
    expect([bar(0, 0, 4), bar(3, 8, 4), bar(8, 8, 4)]).toEqual(['[....]', '[#...]', '[####]'])
  })

  test('a count of one has the singular', () => {
    expect([counted(1, 'party', 'parties'), counted(1_600, 'party', 'parties'), counted(0, 'row')]).toEqual([
      '1 party',
      '1,600 parties',
      '0 rows',
    ])
  })

  test('durations are written as people say them', () => {
    expect([0, 59.4, 60, 3_599, 3_600].map(duration)).toEqual([
      '0 s',
      '59 s',
      '1 min 00 s',
      '59 min 59 s',
      '1 h 00 min',
    ])
  })
})
