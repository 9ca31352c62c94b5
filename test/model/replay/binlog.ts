import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findMysql } from '../../../local/servers/find.ts'
import { programOnPath } from '../../../local/servers/on-path.ts'
import type { TestStack } from '../../support/test-stack.ts'

/*
 * MySQL's own binary log: every transaction that committed, in the order of the commits, with each row as it was before and
 * after. Nobody who writes can leave himself out of it, and what was rolled back is not in it.
 */

/** A row by the names of its columns; numbers and dates as MySQL writes them. */
export type Row = Readonly<Record<string, string | null>>

export type RowChange = { readonly table: string; readonly before: Row | undefined; readonly after: Row | undefined }

export type Commit = {
  /** MySQL's number of the session. */
  readonly thread: number
  /** Seconds since 1970, to the microsecond. */
  readonly at: number
  readonly changes: readonly RowChange[]
}

/** Where a log is read from. */
export type LogPosition = { readonly file: string; readonly position: number }

type Column = { readonly name: string; readonly values: readonly string[] | undefined }
type Columns = ReadonlyMap<string, readonly Column[]>

/** Where the log ends now. */
export const endOfLog = async (on: TestStack): Promise<LogPosition> => {
  const [row] = await on.rows<{ File: string; Position: number }>('show binary log status')
  return { file: row?.File ?? '', position: Number(row?.Position) }
}

const valuesOf = (type: string): string[] | undefined =>
  type.startsWith('enum') ? [...type.matchAll(/'((?:[^']|'')*)'/g)].map(([, value]) => value ?? '') : undefined

/** The log has columns by their number, and a value of an enum by its place. */
const columnsOf = async (on: TestStack): Promise<Columns> => {
  const rows = await on.rows<{ t: string; c: string; type: string }>(
    `select table_name as t, column_name as c, column_type as type from information_schema.columns
     where table_schema = ? order by table_name, ordinal_position`,
    [on.stack.database.name],
  )
  const columns = new Map<string, Column[]>()
  for (const { t, c, type } of rows) columns.set(t, [...(columns.get(t) ?? []), { name: c, values: valuesOf(type) }])
  return columns
}

const textOf = (written: string, { values }: Column): string | null => {
  if (written === 'NULL') return null
  if (values !== undefined) return values[Number(written) - 1] ?? ''
  if (!written.startsWith("'")) return written
  return written.slice(1, -1).replace(/\\(.)/g, '$1')
}

type Open = { thread: number; at: number; changes: RowChange[] }
type Half = { table: string; kind: string; part: 'before' | 'after'; before: Row; after: Row }

/** Reads what `mysqlbinlog -v` prints, line by line. */
class Reading {
  readonly commits: Commit[] = []
  readonly #columns: Columns
  readonly #database: string
  #at = 0
  #open: Open | undefined
  #row: Half | undefined

  constructor(columns: Columns, database: string) {
    this.#columns = columns
    this.#database = database
  }

  line(text: string): void {
    if (text.startsWith('### ')) this.#rowLine(text.slice(4))
    else if (text.startsWith('COMMIT/*')) this.#commit()
    else if (text.startsWith('#') && text.includes('\tQuery\tthread_id='))
      this.#open = { thread: Number(/thread_id=(\d+)/.exec(text)?.[1]), at: this.#at, changes: [] }
    else if (text.startsWith('# original_commit_timestamp=')) this.#at = Number(/=(\d+)/.exec(text)?.[1]) / 1_000_000
  }

  #rowLine(text: string): void {
    const change = /^(INSERT INTO|UPDATE|DELETE FROM) `([^`]+)`\.`([^`]+)`/.exec(text)
    if (change !== null) {
      this.#endRow()
      const [, kind = '', database, table = ''] = change
      if (database === this.#database && this.#columns.has(table))
        this.#row = { table, kind, part: 'before', before: {}, after: {} }
      return
    }
    if (this.#row === undefined) return
    if (text === 'WHERE') this.#row.part = 'before'
    else if (text === 'SET') this.#row.part = 'after'
    else this.#value(this.#row, text)
  }

  #value(row: Half, text: string): void {
    const [, number, written = ''] = /^ {2}@(\d+)=(.*)$/.exec(text) ?? []
    const column = this.#columns.get(row.table)?.[Number(number) - 1]
    if (column !== undefined) row[row.part] = { ...row[row.part], [column.name]: textOf(written, column) }
  }

  #endRow(): void {
    const row = this.#row
    this.#row = undefined
    if (row === undefined) return
    const before = row.kind === 'INSERT INTO' ? undefined : row.before
    const after = row.kind === 'DELETE FROM' ? undefined : row.after
    this.#open?.changes.push({ table: row.table, before, after })
  }

  #commit(): void {
    this.#endRow()
    if (this.#open !== undefined && this.#open.changes.length > 0) this.commits.push(this.#open)
    this.#open = undefined
  }
}

/** The program beside the server that the stack runs. */
const logReader = async (): Promise<readonly string[]> => {
  const found = await findMysql(process.env, () => undefined)
  if (!('program' in found)) throw new Error('A trace is recorded of a MySQL of our own only: its binary log is a file')
  const { command, before } = found.program
  const path = (before.at(-1) ?? command).replace(/sbin\/mysqld$/, 'bin/mysqlbinlog')
  if (before.length > 0) return [command, ...before.slice(0, -1), path]
  return [programOnPath('mysqlbinlog') ?? path]
}

/** Every commit since `from`, in the order of the commits, a restart of the server or a return to a snapshot included. */
export const commitsSince = async (on: TestStack, from: LogPosition): Promise<readonly Commit[]> => {
  const { server, name } = on.stack.database
  const folder = server?.dataFolder ?? ''
  const files = (await readdir(folder)).filter((file) => /^binlog\.\d+$/.test(file) && file >= from.file).sort()
  const [command = '', ...args] = await logReader()
  const reading = new Reading(await columnsOf(on), name)
  const child = spawn(command, [
    ...args,
    ...['--no-defaults', '--base64-output=decode-rows', '-v', `--start-position=${from.position}`],
    ...files.map((file) => join(folder, file)),
  ])
  let said = ''
  child.stderr.on('data', (text) => {
    said += text
  })
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  for await (const text of createInterface(child.stdout)) reading.line(text)
  if ((await ended) !== 0) throw new Error(`mysqlbinlog failed: ${said.slice(0, 500)}`)
  return reading.commits
}
