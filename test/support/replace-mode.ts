import type { TestSlice, TestStack } from './test-stack.ts'

/** The slice's distributor has its sets replaced in place: readers see none while a job runs, and an undo registers anew. */
export const replaceInPlace = async (on: TestStack, { distributor }: TestSlice): Promise<void> => {
  await on.outside.query(`update distributor set replace_mode = 'in-place' where code = ?`, [distributor])
}
