import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { FAILURES } from '../../../../functions/contract/failure-table.ts'
import { counted } from '../../../../functions/contract/numbers.ts'
import { EXIT_CODES } from '../../../../operator/command/exit-codes.ts'
import { buildProgram } from '../../../../operator/command/program.ts'
import { duration } from '../../../../operator/format/duration.ts'
import { table } from '../../../../operator/format/table.ts'
import { bar, percent } from '../../../../operator/format/text.ts'
import { OPERATION_ERRORS } from '../../../../operator/operations/operation-error.ts'
import { call } from '../../../support/operator.ts'

describe('wrong arguments end with 2', () => {
  test.each([
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['validate'], "missing required argument 'file'"],
    [['list', '--quite'], "unknown option '--quite'\n(Did you mean --quiet?)"],
    [['list', '--from', '2026-13', '--stage', 'dev'], '"2026-13" is not a settlement month such as 2026-10.'],
    [['list', '--from', '2026-10', '--to', '2026-09', '--stage', 'dev'], '--from 2026-10 is after --to 2026-09.'],
    [
      ['list', '--from', '2000-01', '--to', '2026-10', '--stage', 'dev'],
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
    [['show', 'x', '--stage', 'dev'], '"x" is not a job\'s number.'],
    [['stop', '7', '-d', 'ARIA', '--stage', 'dev'], 'Name either a job or a slice, not both.'],
    [['audit', '--limit', '0', '--stage', 'dev'], '--limit is a number from 1 to 500.'],
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
