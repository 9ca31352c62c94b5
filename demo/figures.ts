import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../functions/store/mysql/database.ts'
import type { Operator } from './operator.ts'

/** What one job did, and how long each of its parts took. */
export type JobFigures = {
  readonly job: number
  readonly deletedRows: number
  readonly registeredRows: number
  readonly stageMs: number
  readonly deleteMs: number
  readonly registerMs: number
  readonly lockHeldMs: number
}

/** From the job row, the ledger and the execution's history. */
export const jobFigures = async (
  database: Database,
  operator: Operator,
  job: number,
  executionArn: string,
): Promise<JobFigures> => {
  const [row] = await database.rows<{ deleteMs: string; registerMs: string; deleted: string; registered: string }>(
    `select timestampdiff(microsecond, created_at, deleted_at) / 1000 as deleteMs,
            timestampdiff(microsecond, registering_at, registered_at) / 1000 as registerMs,
            (select coalesce(sum(row_count), 0) from job_chunk where job_id = j.id and phase = 'delete') as deleted,
            (select coalesce(sum(row_count), 0) from job_chunk where job_id = j.id and phase = 'register') as registered
     from job j where id = ?`,
    [job],
  )
  const [stageMs, lockHeldMs] = await Promise.all([
    operator.between(executionArn, 'StageSource', 'StageSource'),
    operator.between(executionArn, 'AcquireLock', 'ReleaseLock'),
  ])
  return {
    job,
    deletedRows: Number(row?.deleted ?? 0),
    registeredRows: Number(row?.registered ?? 0),
    stageMs: stageMs ?? 0,
    deleteMs: Number(row?.deleteMs ?? 0),
    registerMs: Number(row?.registerMs ?? 0),
    lockHeldMs: lockHeldMs ?? 0,
  }
}

/** Every value of a metric in the functions' logs, where EMF writes them as JSON lines. */
export const metricValues = async (logsFolder: string, metric: string): Promise<number[]> => {
  const values: number[] = []
  for (const file of await readdir(logsFolder))
    for (const line of (await readFile(join(logsFolder, file), 'utf8')).split('\n')) {
      if (!line.includes('"_aws"') || !line.includes(`"${metric}"`)) continue
      const value = (JSON.parse(line) as Record<string, number | number[]>)[metric]
      values.push(...[value ?? []].flat())
    }
  return values
}
