import type { Command } from 'commander'
import { counted } from '../../functions/contract/numbers.ts'
import { OPERATION_ERRORS } from '../operations/operation-error.ts'
import { acting } from './command-context.ts'
import { rangeOf, withRange } from './list.ts'

type Options = { readonly from?: string; readonly to?: string; readonly month?: string }

export const addDoctor = (program: Command): void => {
  withRange(program.command('doctor'))
    .summary('find every disagreement and say what fixes it')
    .description(
      'Looks for locks without a job, open jobs without a run or without progress, halted jobs, runs with an old fence, registered rows that do not match, unpublished and refused events, staged sources that are half there or lost, a wrong schema or local_infile, and services out of reach; and says for each the one command that fixes it. It changes nothing. Every row of the months is counted, so a long range takes a while.',
    )
    .addHelpText('after', '\nExamples:\n  sharelock doctor\n  sharelock doctor --month 2026-10 --json')
    .action(
      acting(async ({ out, operations }, options: Options) => {
        const { from, to } = rangeOf(options)
        const diagnosis = await (await operations()).doctor(from, to)
        const { findings } = diagnosis
        out.document({ from, to, ...diagnosis })
        for (const { check, severity, what, remedy } of findings)
          out.answer(
            `${out.style(severity === 'error' ? 'red' : 'yellow', `${severity} ${check}`)}`,
            `  ${what}`,
            `  ${out.style('bold', remedy)}`,
          )
        if (findings.length === 0) out.answer(out.style('green', `Nothing to fix from ${from} to ${to}.`))
        else out.answer(`${counted(findings.length, 'finding')}.`)
        return findings.length === 0 ? 0 : OPERATION_ERRORS.Findings
      }),
    )
}
