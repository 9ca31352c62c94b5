import type { Commit, Row, RowChange } from './binlog.ts'

/** What a transaction changed of one slice. */
export type SliceChanges = {
  readonly opened: Row | undefined
  /** Changes of job rows that were there. */
  readonly jobs: readonly { readonly before: Row; readonly after: Row }[]
  readonly planned: readonly Row[]
  /** The chunk that was marked, as it was left. */
  readonly marked: Row | undefined
  /** Rows of the month, by what became of them, and the slots they are in. */
  readonly inserted: number
  readonly deleted: number
  readonly slots: ReadonlySet<number>
  readonly shown: Row | undefined
  /** Ends of executions, of any slice. */
  readonly ended: readonly Row[]
}

/** The rows of a slot that are no rows of a set: they mark where it ends. */
const BORDERS = ['', '[']

export type SliceIds = { readonly distributorId: number; readonly month: string }

/** Everything that a commit changed of a slice; `jobIds` are the slice's jobs so far. */
export const changesOf = ({ changes }: Commit, slice: SliceIds, jobIds: ReadonlySet<string>): SliceChanges => {
  const date = `${slice.month.replace('-', ':')}:01`
  const isOurs = ({ before, after }: RowChange): boolean => {
    const row = after ?? before
    return row?.distributor_id === String(slice.distributorId) && row.settlement_month === date
  }
  const of = (table: string) => changes.filter((change) => change.table === table)
  const jobs = of('job').filter(isOurs)
  const opened = jobs.find(({ before }) => before === undefined)?.after
  const ids = new Set([...jobIds, opened?.id])
  const chunks = of('job_chunk').filter(({ before, after }) => ids.has((after ?? before)?.job_id ?? ''))
  const rows = of('share_ratio').filter(
    (one) => isOurs(one) && !BORDERS.includes((one.after ?? one.before)?.isrc ?? ''),
  )
  return {
    opened,
    jobs: jobs.flatMap(({ before, after }) => (before && after ? [{ before, after }] : [])),
    planned: chunks.flatMap(({ before, after }) => (before === undefined && after !== undefined ? [after] : [])),
    marked: markedOf(chunks),
    inserted: rows.filter(({ before }) => before === undefined).length,
    deleted: rows.filter(({ after }) => after === undefined).length,
    slots: new Set(rows.map((one) => Number((one.after ?? one.before)?.slot ?? 0))),
    shown: of('active_set').findLast((one) => isOurs(one))?.after,
    ended: of('execution').flatMap(({ before, after }) => (after && isEnd(before, after) ? [after] : [])),
  }
}

const markedOf = (chunks: readonly RowChange[]): Row | undefined => {
  const mark = chunks.find(({ before, after }) => before?.marked_at === null && after?.marked_at != null)?.after
  // How many rows it had is recorded behind the mark.
  return (
    mark &&
    (chunks.findLast(({ after }) => after?.phase === mark.phase && after?.number === mark.number)?.after ?? mark)
  )
}

const isEnd = (before: Row | undefined, after: Row): boolean =>
  ['ended_started_ms', 'ended_redrives', 'unlocked_at'].some(
    (column) => (before?.[column] ?? null) !== (after[column] ?? null),
  )
