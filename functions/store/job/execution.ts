import { executionNameOf } from '../../contract/execution.ts'
import { Failure } from '../../contract/failures.ts'
import { EXECUTION_NAME_CHARS_MAX } from '../../contract/limits.ts'
import { UNLOCKED_DAYS } from '../../contract/support-limits.ts'
import { holderOf } from '../lock/holder.ts'
import type { Reader, Tx } from '../mysql/tx.ts'

/**
 * One life of an execution, as Step Functions tells it.
 * See decisions.md, "An end is written before its job is looked for".
 */
export type Life = {
  /** Its start, in ms since 1970. */
  readonly startedMs: number
  /** How often it had been redriven. */
  readonly redrives: number
}

/**
 * Starts closer than this are one start: the context object writes it as text and the event as a number, and a name
 * can't be used again within 90 days.
 */
export const SAME_START_MS = 1_000

/** The name of an execution, from its ARN: what its lock tokens begin with. */
const nameOf = (execution: string): string => holderOf(executionNameOf(execution))

/**
 * Whether an execution, by its name or ARN, could open a job: StageSource refuses a name that is not ASCII. A status event may
 * tell of such a one all the same, and a stranger may have left anything as a lock's holder; no row can name it, or needs to.
 */
export const couldOpen = (execution: string): boolean => {
  const name = nameOf(execution)
  return /^[\x21-\x7e]+$/.test(name) && name.length <= EXECUTION_NAME_CHARS_MAX
}

/** True where both are the same start of one execution's name. */
export const isSameStart = (oneMs: number, otherMs: number): boolean => Math.abs(oneMs - otherMs) < SAME_START_MS

type ExecutionRow = {
  readonly ended_started_ms: number | null
  readonly ended_redrives: number | null
  readonly unlocked: number
}

/** Holds the execution's row until the transaction ends, as it is then. Everybody else who wants it waits. */
const holdRow = async (tx: Tx, name: string): Promise<ExecutionRow | undefined> => {
  // The update changes nothing; it takes the row exclusively, where `ignore` would share it.
  await tx.change('insert into execution (name) values (?) on duplicate key update name = name', [name])
  const [row] = await tx.rows<ExecutionRow>(
    `select ended_started_ms, ended_redrives,
            coalesce(unlocked_at > current_timestamp(6) - interval ? day, false) as unlocked
     from execution where name = ?`,
    [UNLOCKED_DAYS, name],
  )
  return row
}

/**
 * Says whether this life of the execution may still open a job, and keeps that answer true until the transaction ends:
 *
 *   OpenJob's transaction  [ hold the row, no end in it .... insert the job, commit ]
 *   the one who ends it       [ hold the row: waits ........................ write the end, commit ] finds the job
 *
 * An end that was written before is seen here, so no order leaves an open job behind.
 */
export const mayOpen = async (tx: Tx, execution: string, life: Life): Promise<boolean> => {
  const row = await holdRow(tx, nameOf(execution))
  if (row === undefined || row.unlocked === 1) return false
  const { ended_started_ms: endedMs, ended_redrives: endedRedrives } = row
  if (endedMs === null || !isSameStart(endedMs, life.startedMs)) return true
  return life.redrives > (endedRedrives ?? 0)
}

/** The row is held, so it is there and the change is one: anything else must not pass for an execution that is shut out. */
const requireWritten = ({ affectedRows }: { affectedRows: number }, name: string): void => {
  if (affectedRows === 1) return
  throw new Failure(
    'DatabaseRefused',
    `That the execution ${name} may open no job was not written: its row did not change. See what else changes the table execution, such as a trigger, then try again.`,
  )
}

/**
 * Writes, in the transaction that is open, that a life of an execution has ended: it opens no job from now on. An
 * older life that is told late does not replace a newer one.
 */
export const markEnded = async (tx: Tx, execution: string, life: Life): Promise<void> => {
  const name = nameOf(execution)
  const row = await holdRow(tx, name)
  const endedMs = row?.ended_started_ms ?? 0
  const isOlder = isSameStart(endedMs, life.startedMs)
    ? life.redrives <= (row?.ended_redrives ?? 0)
    : life.startedMs < endedMs
  if (isOlder) return
  const written = await tx.change('update execution set ended_started_ms = ?, ended_redrives = ? where name = ?', [
    life.startedMs,
    life.redrives,
    name,
  ])
  requireWritten(written, name)
}

/**
 * Writes, in the transaction that is open, that an operator unlocked the slice of the execution with this name: it
 * opens no job from now on. Which life it was is not known, so the mark holds for any, and for UNLOCKED_DAYS.
 */
export const markUnlocked = async (tx: Tx, name: string): Promise<void> => {
  if (!couldOpen(name)) return
  await holdRow(tx, name)
  requireWritten(
    await tx.change('update execution set unlocked_at = current_timestamp(6) where name = ?', [name]),
    name,
  )
}

/** Those of the executions with these names whose end was told: they failed, timed out or were stopped. */
export const endedOf = async (reader: Reader, names: readonly string[]): Promise<Set<string>> => {
  if (names.length === 0) return new Set()
  const rows = await reader.rows<{ name: string }>(
    'select name from execution where name in (?) and ended_started_ms is not null',
    [[...names]],
  )
  return new Set(rows.map(({ name }) => name))
}
