import { count, counted } from '../../functions/contract/numbers.ts'
import { facts } from '../format/table.ts'
import type { StartPlan } from '../operations/start-plan.ts'
import { changeLines } from './difference-text.ts'
import type { Output } from './output.ts'
import { formatText, heldText, rejectionLines, warningLines } from './validation-text.ts'

const sourceText = ({ source, isUndo }: StartPlan): string => {
  if ('path' in source) return source.path
  if ('key' in source) return source.key
  return `${isUndo ? 'undo to ' : ''}staged source ${source.staged.slice(0, 12)}`
}

const differenceText = ({ difference }: StartPlan): string => {
  const { against, added, removed, changed, unchanged, problem } = difference
  if (against === null) return 'nothing was registered before: every row is new'
  if (problem !== null) return `cannot be told: ${problem}`
  const counts = `${count(added)} added, ${count(removed)} removed, ${count(changed)} changed, ${count(unchanged)} unchanged`
  return `${counts} (against job ${against.job}, ${counted(against.rows, 'row')})`
}

/** What a start would do, before it is made. */
export const planLines = (out: Output, plan: StartPlan): string[] => {
  const { validation, rowsToDelete, rowsToRegister, continues, difference } = plan
  const head = `${plan.distributor} ${plan.month}: ${sourceText(plan)}`
  const { rejection, summary } = validation
  if (rejection !== null) {
    const problem = out.style('red', `refused, ${counted(rejection.total, 'error')}`)
    return [`${head} (${formatText(validation)}): ${problem}`, ...rejectionLines(rejection)]
  }
  const read =
    summary === null
      ? ''
      : `${counted(summary.tracks, 'track')}, ${counted(summary.parties, 'party', 'parties')}, sum of shares ${summary.shareSum}`
  return [
    head,
    ...facts([
      ['read', `${read}, ${formatText(validation)}`],
      ['delete', counted(rowsToDelete, 'row')],
      ['register', counted(rowsToRegister, 'row')],
      ...(summary?.held === undefined ? [] : ([['hold back', heldText(summary.held)]] as const)),
      ['difference', differenceText(plan)],
      ...(continues === null ? [] : ([['goes on with', `job ${continues.job}, in ${continues.state}`]] as const)),
    ]),
    ...changeLines(difference, difference.added + difference.removed + difference.changed),
    ...warningLines(out, plan.warnings),
    ...(plan.warnings.length > 0 && plan.wereConfirmed
      ? ['  A job of this month had these rows before: nobody is asked again.']
      : []),
  ]
}
