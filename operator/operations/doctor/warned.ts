import type { Checks } from '../../../functions/contract/checks.ts'
import { sliceOptions } from '../../../functions/contract/remedies.ts'
import { warningNames } from '../../../functions/contract/warnings.ts'
import { sliceName } from '../../../functions/contract/words.ts'
import type { Finding } from '../finding.ts'

/** Files of the schedule that wait for a person. */
export const warnedFindings = ({ warned }: Checks): Finding[] =>
  warned.map((file) => ({
    check: 'warned-file',
    severity: 'warning',
    what: `The file ${file.key} of ${sliceName(file)} was not started by the schedule, since it has warnings that nobody has confirmed: ${warningNames(file.warnings)}. Nothing was touched.`,
    remedy: `sharelock start ${sliceOptions(file)} --source ${file.key}`,
    slice: { distributor: file.distributor, month: file.month },
  }))
