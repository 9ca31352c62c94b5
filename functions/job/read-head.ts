import type { Head } from '../contract/messages.ts'
import type { Slice } from '../contract/words.ts'
import { newestJob } from '../store/job/row.ts'
import { statement } from '../store/mysql/transaction.ts'
import type { TaskContext } from './task.ts'

/** The newest job of a slice and its fence; null before the first. */
export const readHead = async (context: TaskContext, slice: Slice): Promise<Head | null> => {
  const newest = await statement(context.database, (reader) => newestJob(reader, slice))
  return newest === undefined ? null : { job: newest.id, fence: newest.fence }
}
