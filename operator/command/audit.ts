import type { Command } from 'commander'
import { OperationError } from '../operations/operation-error.ts'
import { acting, codeOf, monthOf, type SliceOptions } from './command-context.ts'
import { auditLines } from './report-text.ts'
import { withSlice } from './slice-options.ts'

/** The columns of CSV. */
const FIELDS = ['id', 'at', 'caller', 'action', 'distributor', 'month', 'job', 'execution', 'why', 'detail'] as const

const LIMIT = { default: 30, max: 500 }

export const addAudit = (program: Command): void => {
  withSlice(program.command('audit'))
    .summary('show who did what, and why')
    .description(
      'Shows every start, resume, undo, stop, unlock and change of a distributor or its profile, newest first, with who did it.',
    )
    .option('--limit <count>', `lines to show, up to ${LIMIT.max}`, String(LIMIT.default))
    .addHelpText('after', '\nExamples:\n  sharelock audit\n  sharelock audit -d ARIA -m 2026-10 --json')
    .action(
      acting(async ({ out, operations }, { distributor, month, limit }: SliceOptions & { limit: string }) => {
        const count = Number(limit)
        if (!(Number.isInteger(count) && count >= 1 && count <= LIMIT.max))
          throw new OperationError('Usage', `--limit is a number from 1 to ${LIMIT.max}.`)
        const lines = await (await operations()).audit({
          ...(distributor === undefined ? {} : { distributor: codeOf(distributor) }),
          ...(month === undefined ? {} : { month: monthOf(month) }),
          limit: count,
        })
        out.document(lines)
        out.records(FIELDS, lines)
        out.answer(...auditLines(lines))
        return 0
      }),
    )
}
