import type { Checks } from '../../../functions/contract/checks.ts'
import { sliceOptions } from '../../../functions/contract/remedies.ts'
import { sliceName } from '../../../functions/contract/words.ts'
import type { Clients } from '../clients.ts'
import type { Finding } from '../finding.ts'
import { OperationError } from '../operation-error.ts'

/** Compares every column of each set that readers see in the months with what was registered. */
export const rowFindings = async (clients: Clients, { shown }: Checks): Promise<Finding[]> => {
  const found: Finding[] = []
  // One after another: each reads a whole slice, and the database has jobs to run.
  for (const { distributor, month, job, digest } of shown) {
    const slice = { distributor, month }
    const set = await clients.inspect({ question: 'set', ...slice }).catch(withoutCopy)
    // Another set is shown since the jobs were read; the next look compares it.
    if (set === null || set.job !== job || set.difference === null) continue
    found.push({
      check: 'rows-differ',
      severity: 'error',
      what: `${sliceName(slice)} ${set.difference}: readers see job ${job}, and another program wrote to its set.`,
      remedy: `sharelock start ${sliceOptions(slice)} --source ${digest} --force`,
      slice,
    })
  }
  return found
}

/** A set without its staged copy can't be compared; the check of the copies says so, with its remedy. */
const withoutCopy = (error: unknown): null => {
  if (error instanceof OperationError && error.remedy?.failure === 'StagedSourceDamaged') return null
  throw error
}
