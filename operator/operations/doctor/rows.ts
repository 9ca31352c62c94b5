import { count, counted } from '../../../functions/contract/numbers.ts'
import { sliceOptions } from '../../../functions/contract/remedies.ts'
import type { Checks } from '../../../functions/contract/reports.ts'
import type { Clients } from '../clients.ts'
import type { Finding } from '../finding.ts'

/** Counts the rows of every registered slice of the months and compares them with what was registered. */
export const rowFindings = async (clients: Clients, { registered }: Checks): Promise<Finding[]> => {
  const found: Finding[] = []
  // One after another: each reads a whole slice, and the database has jobs to run.
  for (const { distributor, month, job, digest, rows, shareSum } of registered) {
    const slice = { distributor, month }
    const held = await clients.inspect({ question: 'rows', ...slice })
    if (held.rows === rows && held.shareSum === shareSum) continue
    // A run may have begun since the jobs were read: then the rows are in flux and say nothing.
    const { jobs } = await clients.inspect({ question: 'slice', ...slice })
    if (jobs[0]?.job !== job) continue
    found.push({
      check: 'rows-differ',
      severity: 'error',
      what: `${distributor} ${month} holds ${counted(held.rows, 'row')} summing to ${held.shareSum}, but job ${job} registered ${count(rows)} summing to ${shareSum}: another program wrote to the slice.`,
      remedy: `sharelock start ${sliceOptions(slice)} --source ${digest} --force`,
      slice,
    })
  }
  return found
}
