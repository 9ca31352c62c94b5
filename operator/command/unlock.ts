import type { Command } from 'commander'
import { remedyOf, remedyText } from '../../functions/contract/remedies.ts'
import type { JobReport, LockReport, SliceReport } from '../../functions/contract/reports.ts'
import { seoulTime } from '../../functions/contract/seoul-time.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { OperationError } from '../operations/operation-error.ts'
import { acting, confirm, type SliceOptions, sliceOf } from './command-context.ts'
import { lockText } from './report-text.ts'
import { withConfirmation, withSlice } from './slice-options.ts'

type Options = SliceOptions & { readonly token?: string; readonly confirm?: string; readonly why?: string }

export const addUnlock = (program: Command): void => {
  withConfirmation(withSlice(program.command('unlock')))
    .summary('delete the lock of a run that is gone')
    .description(
      "Deletes the lock of a slice, for a holder that is dead and would keep others out until the lock expires by itself. Shows the holder and its last progress. The open job's fence is raised first, so a holder that lives after all writes nothing more; its job is halted and can be resumed. Needs the token's digest as `show` prints it, or a typed confirmation.",
    )
    .option('--token <digest>', 'the 12 digits that `sharelock show` prints beside the lock')
    .option('--why <text>', 'a reason, for the audit trail', '')
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock unlock -d ARIA -m 2026-10\n  sharelock unlock -d ARIA -m 2026-10 --token 0f1e2d3c4b5a --why "worker was killed"',
    )
    .action(
      acting(async (context, options: Options) => {
        const { out } = context
        const slice = sliceOf(options)
        const operations = await context.operations()
        const report = await operations.show(slice)
        const lock = heldLock(report, slice)
        const job = report.jobs.find((each) => each.job === lock.job)
        out.say(`${sliceName(slice)}: ${lockText(lock)}`)
        if (job !== undefined) out.say(`  job ${job.job} in ${job.state}, last chunk ${lastChunkOf(job)}`)
        if (options.token === undefined) await confirm(context, sliceName(slice), options.confirm)
        const unlocked = await operations.unlock(slice, options.token ?? lock.tokenDigest, options.why ?? '')
        out.document({ ...slice, ...unlocked })
        out.answer(
          `${unlocked.released ? 'Unlocked' : 'The lock had gone by itself'}: ${unlocked.holder} holds ${sliceName(slice)} no longer.`,
          unlocked.job === null
            ? '  No job was open.'
            : `  Job ${unlocked.job} is halted. ${remedyText(remedyOf('Unlocked', slice, true))}`,
        )
        return 0
      }),
    )
}

const heldLock = ({ lock }: SliceReport, slice: SliceName): LockReport => {
  if (lock === 'unreachable')
    throw new OperationError('Unreachable', 'Valkey does not answer, so nothing can be unlocked.')
  if (lock === null)
    throw new OperationError('NotFound', `${sliceName(slice)} is not locked; there is nothing to unlock.`)
  return lock
}

const lastChunkOf = (job: JobReport): string => {
  const last = job.register.lastMarkedAt ?? job.delete.lastMarkedAt
  return last === null ? 'none' : seoulTime(last)
}
