import { OperationError } from '../../operations/operation-error.ts'

/** Stands for ../../create-operations.ts in the one file. */
export const createOperations = (): never => {
  throw new OperationError(
    'Usage',
    'This program checks files only and asks no AWS: name a profile, not a distributor.',
  )
}
