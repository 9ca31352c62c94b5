import { z } from 'zod'
import { ExecutionInput } from '../../functions/contract/messages.ts'

/** The input of StartExecution as a JSON schema: the same one that StageSource checks by, at the machine's first task. */
export const executionInputSchema = (): Record<string, unknown> => ({
  $id: 'execution-input.schema.json',
  title: 'Input of the job state machine',
  ...z.toJSONSchema(ExecutionInput, { io: 'input' }),
})
