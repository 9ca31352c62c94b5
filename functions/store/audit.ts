import type { AuditAction, AuditLine } from '../contract/reports.ts'
import { monthDate } from '../contract/words.ts'
import type { Database, Param } from './database.ts'
import { isoTime } from './time.ts'

/** What a line says besides its number and moment. `execution` may be an ARN; its name is what is kept. */
export type AuditEntry = Pick<AuditLine, 'caller' | 'action' | 'distributor' | 'why' | 'detail'> &
  Partial<Pick<AuditLine, 'month' | 'job' | 'execution'>>

/**
 * Writes a line in the caller's transaction, so it exists exactly if the change that it records committed.
 *
 * @returns the line's number
 */
export const writeAudit = async (database: Database, entry: AuditEntry): Promise<number> => {
  const { caller, action, distributor, month, job, execution, why, detail } = entry
  const { insertId } = await database.change(
    `insert into audit (caller, action, distributor, settlement_month, job_id, execution, why, detail)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      caller,
      action,
      distributor,
      month ? monthDate(month) : null,
      job ?? null,
      execution ? nameOf(execution) : null,
      why,
      JSON.stringify(detail),
    ],
  )
  return insertId
}

const nameOf = (execution: string): string => execution.slice(execution.lastIndexOf(':') + 1)

/** The newest lines, of everything or of a distributor, a month, or both. */
export const auditLines = async (
  database: Database,
  { distributor, month, limit }: { distributor?: string; month?: string; limit: number },
): Promise<AuditLine[]> => {
  const filters: [string, Param][] = [
    ...(distributor === undefined ? [] : [['distributor = ?', distributor] satisfies [string, Param]]),
    ...(month === undefined ? [] : [['settlement_month = ?', monthDate(month)] satisfies [string, Param]]),
  ]
  const where = filters.length === 0 ? '' : `where ${filters.map(([condition]) => condition).join(' and ')}`
  const rows = await database.rows<AuditRow>(
    `select id, at, caller, action, distributor, date_format(settlement_month, '%Y-%m') as month, job_id as job,
            execution, why, detail
     from audit ${where} order by id desc limit ?`,
    [...filters.map(([, value]) => value), limit],
  )
  return rows.map((row) => ({ ...row, at: isoTime(row.at) }))
}

type AuditRow = AuditLine & { readonly action: AuditAction }
