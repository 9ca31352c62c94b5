import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobReport } from '../functions/contract/reports.ts'
import type { SdkClient } from './sdk-client.ts'

/** What one job did, and how long each of its parts took. */
export type JobFigures = {
  readonly deletedRows: number
  readonly registeredRows: number
  readonly stageMs: number
  readonly deleteMs: number
  readonly registerMs: number
  readonly lockHeldMs: number
}

const msBetween = (from: string | null, to: string | null): number =>
  from === null || to === null ? 0 : Date.parse(to) - Date.parse(from)

/** From what Inspect reports of the job, and from the execution's history. */
export const jobFigures = async (sdk: SdkClient, job: JobReport): Promise<JobFigures> => {
  const { at, execution } = job
  const [stageMs = 0, lockHeldMs = 0] = await Promise.all([
    sdk.between(execution, 'StageSource', 'StageSource'),
    sdk.between(execution, 'AcquireLock', 'ReleaseLock'),
  ])
  return {
    deletedRows: job.delete.rows,
    registeredRows: job.register.rows,
    stageMs,
    deleteMs: msBetween(at.created, at.deleted),
    registerMs: msBetween(at.registering, at.registered),
    lockHeldMs,
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
