import { executionNameOf } from '../contract/execution.ts'
import { fitting } from '../contract/fitting.ts'
import { CALLER_CHARS_MAX, EXECUTION_NAME_CHARS_MAX, WHY_CHARS_MAX } from '../contract/limits.ts'
import type { AuditAction, AuditLine } from '../contract/reports.ts'
import { monthDate } from '../contract/words.ts'
import type { LentDatabase } from './mysql/database.ts'
import { isoTime } from './mysql/time.ts'
import { transaction } from './mysql/transaction.ts'
import type { Param, Reader, Tx } from './mysql/tx.ts'

/** What a line says besides its number and moment. `execution` may be an ARN; its name is what is kept. */
export type AuditEntry = Pick<AuditLine, 'caller' | 'action' | 'distributor' | 'why' | 'detail'> &
  Partial<Pick<AuditLine, 'month' | 'job' | 'execution'>>

/**
 * Writes a line in the caller's transaction, so it exists exactly if the change that it records committed.
 * See decisions.md, "The audit trail is in MySQL, in the change's own transaction".
 *
 * @returns the line's number
 */
export const writeAudit = async (tx: Tx, entry: AuditEntry): Promise<number> => {
  const { caller, action, distributor, month, job, execution, why, detail } = entry
  const { insertId } = await tx.change(
    `insert into audit (caller, action, distributor, settlement_month, job_id, execution, why, detail)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      fitting(caller, CALLER_CHARS_MAX),
      action,
      distributor,
      month ? monthDate(month) : null,
      job ?? null,
      execution ? nameOf(execution) : null,
      fitting(why, WHY_CHARS_MAX),
      JSON.stringify(detail, (_, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)),
    ],
  )
  return insertId
}

/**
 * Runs `work`, which writes one line, in a transaction. Run again because the reply to COMMIT was lost, it meets its own line
 * and does nothing twice: a distributor that was added is not "there already".
 *
 * @throws what `transaction` throws
 */
export const audited = async <T>(
  database: LentDatabase,
  work: (tx: Tx) => Promise<{ readonly line: number; readonly result: T }>,
): Promise<T> => {
  let done: { readonly line: number; readonly result: T } | undefined
  return await transaction(database, async (tx) => {
    if (done !== undefined && (await hasLine(tx, done.line))) return done.result
    done = await work(tx)
    return done.result
  })
}

/** A number that was rolled back is given to no other line. */
const hasLine = async (reader: Reader, line: number): Promise<boolean> =>
  (await reader.rows('select 1 from audit where id = ?', [line])).length > 0

/** What a stranger left as a lock's holder may be anything, and must not keep an operator from unlocking. */
const nameOf = (execution: string): string =>
  executionNameOf(execution)
    .replace(/[^\x20-\x7e]/gu, '?')
    .slice(0, EXECUTION_NAME_CHARS_MAX)

/** The newest lines, of everything or of a distributor, a month, or both. */
export const auditLines = async (
  reader: Reader,
  { distributor, month, limit }: { distributor?: string | undefined; month?: string | undefined; limit: number },
): Promise<AuditLine[]> => {
  const filters: [string, Param][] = [
    ...(distributor === undefined ? [] : [['distributor = ?', distributor] satisfies [string, Param]]),
    ...(month === undefined ? [] : [['settlement_month = ?', monthDate(month)] satisfies [string, Param]]),
  ]
  const where = filters.length === 0 ? '' : `where ${filters.map(([condition]) => condition).join(' and ')}`
  const rows = await reader.rows<AuditRow>(
    `select id, at, caller, action, distributor, date_format(settlement_month, '%Y-%m') as month, job_id as job,
            execution, why, detail
     from audit ${where} order by id desc limit ?`,
    [...filters.map(([, value]) => value), limit],
  )
  return rows.map((row) => ({ ...row, at: isoTime(row.at) }))
}

type AuditRow = AuditLine & { readonly action: AuditAction }
