import type { ReportForm } from './file-report.ts'
import type { Slice } from './words.ts'

/** The name of an execution, from its ARN or from the name itself. */
export const executionNameOf = (execution: string): string => execution.slice(execution.lastIndexOf(':') + 1)

/** The sentence of a cause: a Lambda's failure is JSON text, and people read its message. Empty where there is no cause. */
export const sentenceOf = (cause: string | undefined): string => {
  try {
    const { errorMessage } = JSON.parse(cause ?? '') as { errorMessage?: unknown }
    return errorMessage === undefined ? (cause ?? '') : String(errorMessage)
  } catch {
    return cause ?? ''
  }
}

/** Step Functions' execution names are not longer, and neither may a key grow without end. */
const NAME_CHARS_MAX = 80

/**
 * Where the report of a refused file is, in the stage's bucket: `rejected/<distributor>/<month>/<execution's name>.json`,
 * and beside it `.csv` and `.html`. It is made of nothing else, so anyone who knows the execution finds it, and a repetition writes the same key.
 */
export const rejectKey = (
  { distributor, month }: Pick<Slice, 'distributor' | 'month'>,
  execution: string,
  form: ReportForm = 'json',
): string => {
  const name = executionNameOf(execution)
    .replace(/[^\w-]/g, '_')
    .slice(0, NAME_CHARS_MAX)
  return `rejected/${distributor}/${month}/${name}.${form}`
}
