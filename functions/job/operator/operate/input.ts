import type { OperateInput } from '../../../contract/operations.ts'

/** The input of one action. */
export type Input<Action extends OperateInput['action']> = Extract<OperateInput, { action: Action }>
