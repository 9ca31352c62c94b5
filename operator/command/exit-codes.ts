import { OPERATION_ERRORS, type OperationErrorName } from '../operations/operation-error.ts'
import { PIPE_CLOSED } from './closed-pipe.ts'
import { INTERRUPTED } from './interrupted.ts'

const MEANINGS: Readonly<Record<OperationErrorName, string>> = {
  Failed: 'unexpected',
  Usage: 'wrong arguments or input',
  Rejected: 'the file was refused; nothing was touched',
  Busy: 'another run goes on, holds the lock, or has an open job',
  Halted: 'the run halted or was overtaken: it did not end REGISTERED',
  Unconfirmed: 'a yes or a typed confirmation is needed, or does not match',
  Unreachable: 'a service cannot be reached, or refuses you',
  NotFound: 'what was asked for does not exist',
  Findings: '`doctor` found something',
  PlanMoved: 'what was shown has changed; nothing was touched: look again and start again',
}

/** Every exit code, its name in `{"error": ...}`, and what it means. */
export const EXIT_CODES: readonly { readonly code: number; readonly name: string; readonly meaning: string }[] = [
  { code: 0, name: '', meaning: 'done' },
  ...Object.entries(OPERATION_ERRORS).map(([name, code]) => ({
    code,
    name,
    meaning: MEANINGS[name as OperationErrorName],
  })),
  { code: INTERRUPTED, name: '', meaning: 'Ctrl-C; a run that was watched goes on' },
  {
    code: PIPE_CLOSED,
    name: '',
    meaning: 'the reader of the answer closed the pipe, e.g. `head`; a run that was watched goes on',
  },
]
