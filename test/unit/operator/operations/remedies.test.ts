import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { FAILURE_NAMES, FAILURES, type FailureName } from '../../../../functions/contract/failure-table.ts'
import { type Remedy, remedyOf, remedyText } from '../../../../functions/contract/remedies.ts'
import { EXIT_CODES } from '../../../../operator/command/exit-codes.ts'
import { buildProgram } from '../../../../operator/command/program.ts'
import { en } from '../../../../operator/console/words/en.ts'
import { ko } from '../../../../operator/console/words/ko.ts'
import { kindOfEnd, ofFailure, refusal } from '../../../../operator/operations/failures.ts'

const SLICE = { distributor: 'ARIA', month: '2026-10' }
const NAMES = [...Object.keys(FAILURES), 'Lambda.Unknown', 'States.Timeout']

const silence = (command: Command): void => {
  command.action(() => undefined)
  command.commands.forEach(silence)
}

/** Throws where the program has no such command, option or argument. */
const parse = async (line: string): Promise<void> => {
  const program = buildProgram()
  program.commands.forEach(silence)
  await program.parseAsync(line.split(' ').slice(1), { from: 'user' })
}

describe('the remedy of', () => {
  test.each(NAMES)('%s is one sentence that ends with one command, which the program takes', async (name) => {
    for (const isOpen of [true, false]) {
      const remedy = remedyOf(name, SLICE, isOpen)
      expect(remedyText(remedy)).toMatch(/^[A-Z][^.:`]+: sharelock [^.:`]+$/)
      expect(remedyText(remedy).split('sharelock ')).toHaveLength(2)
      await parse(remedy.command)
    }
  })

  test.each(NAMES)('%s is in both languages of the console, with the same command', (name) => {
    for (const isOpen of [true, false]) {
      const remedy = remedyOf(name, SLICE, isOpen)
      expect(en.remedy(remedy)).toBe(remedyText(remedy))
      const [advice, command, ...rest] = ko.remedy(remedy).split(': ')
      expect([command, ...rest]).toEqual([remedy.command])
      expect(advice).toMatch(/\p{Script=Hangul}/u)
      expect(advice?.match(/[A-Za-z0-9]+/g) ?? []).toEqual(advice?.match(/MySQL|Valkey|S3/g) ?? [])
      expect(advice === ko.remedy({ ...remedy, failure: 'Lambda.Unknown' }).split(': ')[0]).toBe(!(name in FAILURES))
    }
  })

  test('an answer or a refusal is apart from its message, for a face that has another language', () => {
    for (const error of [ofFailure('NotLocked', 'It is free.', SLICE), refusal('NotOpen', 'It is free.', SLICE)]) {
      expect(error).toMatchObject({
        name: 'NotFound',
        sentence: 'It is free.',
        remedy: { failure: expect.stringMatching(/^Not(Locked|Open)$/) },
      })
      expect(error.message).toBe(`It is free. ${en.remedy(error.remedy as Remedy)}`)
    }
  })

  test('a command or an option that does not exist would be found', async () => {
    await expect(parse('sharelock mend')).rejects.toThrow(/unknown command/)
    await expect(parse('sharelock resume --supersede')).rejects.toThrow(/unknown option/)
    await expect(parse('sharelock distributors set CODE MORE')).rejects.toThrow(/too many arguments/)
  })

  test('a failure without an open job never advises to resume', () => {
    for (const name of NAMES) expect(remedyOf(name, SLICE, false).command).not.toContain('resume')
    expect(remedyOf('DatabaseUnreachable', SLICE, true).command).toBe(
      'sharelock resume --distributor ARIA --month 2026-10',
    )
  })

  test('an answer that no run ends by comes after it, for the slice that was asked about', () => {
    expect(ofFailure('NotLocked', 'It is not locked.', SLICE).message).toBe(
      'It is not locked. See what there is of the slice: sharelock show --distributor ARIA --month 2026-10',
    )
    expect(ofFailure('LockUnreachable', 'Valkey is silent.', SLICE).message).toBe('Valkey is silent.')
  })

  test("a stranger's rows or a damaged set is never a bare resume", () => {
    const options = '--distributor ARIA --month 2026-10 --file FILE'
    for (const name of ['SliceMismatch', 'ChunkMismatch'])
      expect(remedyOf(name, SLICE, true).command).toBe(`sharelock start ${options} --supersede --force`)
    expect(remedyOf('StagedSourceDamaged', SLICE, true).command).toBe(`sharelock start ${options}`)
  })
})

describe('the exit kind', () => {
  const codes = new Map(EXIT_CODES.map(({ name, code }) => [name, code]))

  test.each(NAMES)('of %s has an exit code, as an answer and as the end of a run', (name) => {
    for (const kind of [ofFailure(name, 'why').name, kindOfEnd(name, true), kindOfEnd(name, false)])
      expect(codes.get(kind)).toBeGreaterThan(0)
  })

  test('of a run is that it was refused, or that its job halted', () => {
    expect(kindOfEnd('SourceRejected', false)).toBe('Rejected')
    expect(kindOfEnd('SourceMissing', false)).toBe('Rejected')
    expect(kindOfEnd('LockHeld', false)).toBe('Busy')
    expect(kindOfEnd('JobOpenError', true)).toBe('Busy')
    expect(kindOfEnd('PlanMoved', true)).toBe('PlanMoved')
    expect(kindOfEnd('PlanMoved', false)).toBe('PlanMoved')
    expect(kindOfEnd('ChunkMismatch', true)).toBe('Halted')
    expect(kindOfEnd('Superseded', false)).toBe('Halted')
    expect(kindOfEnd('ExecutionABORTED', false)).toBe('Halted')
    expect(kindOfEnd('Lambda.Unknown', false)).toBe('Halted')
    // The staged source of an open job was damaged in mid-run: the job halted.
    expect(kindOfEnd('StagedSourceDamaged', true)).toBe('Halted')
    // Nothing halted where an outage kept the run from beginning.
    expect(kindOfEnd('DatabaseUnreachable', false)).toBe('Unreachable')
    expect(kindOfEnd('DatabaseUnreachable', true)).toBe('Halted')
  })

  test('of an answer says what it is about, and names what nobody expects', () => {
    const kindOf = (name: FailureName | string): string => ofFailure(name, 'why').name
    expect(['UnknownJob', 'NotLocked', 'LockChanged', 'DistributorExists', 'InvalidInput'].map(kindOf)).toEqual([
      ...['NotFound', 'NotFound', 'Busy', 'Usage', 'Usage'],
    ])
    expect(ofFailure('TypeError', 'why')).toMatchObject({ name: 'Failed', message: 'TypeError: why' })
    expect(FAILURE_NAMES.filter((name) => kindOf(name) === 'Failed')).toEqual(['DatabaseRefused', 'ConstraintRefused'])
  })
})
