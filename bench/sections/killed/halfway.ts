import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { monthDate, type Slice } from '../../../functions/contract/words.ts'
import type { Stack } from '../../../local/stack.ts'
import type { StagedFile } from '../../harness/staged-file.ts'
import type { Step } from '../../peers/method.ts'

const POLL_MS = 2

/** The key in the middle of the file: everybody goes along the key, so half of the work is done when its row changes. */
const middleKey = ({ manifest, bodies }: StagedFile): string[] => {
  let before = Math.floor(manifest.rows / 2)
  for (const { number, rows } of manifest.chunks) {
    if (before < rows) return bodies[number]?.toString('latin1').split('\n')[before]?.split('\t').slice(0, 3) ?? []
    before -= rows
  }
  throw new Error('a file without rows has no middle')
}

/** Sees what is not committed yet, so that one long transaction has a middle, too. */
const openWatcher = async ({ database: { host, port, master, name } }: Stack): Promise<Connection> => {
  const connection = await createConnection({ host, port, ...master, database: name })
  await connection.query('set session transaction isolation level read uncommitted')
  return connection
}

/**
 * Waits until a step is half done.
 *
 * @param ended whether the step has ended already
 * @throws Error where it ended before anybody saw its middle
 */
export const untilHalfway = async (
  stack: Stack,
  slice: Slice,
  staged: StagedFile,
  step: Step,
  ended: () => boolean,
) => {
  const watcher = await openWatcher(stack)
  try {
    for (;;) {
      const [rows] = await watcher.query<RowDataPacket[]>(
        `select 1 from share_ratio where distributor_id = ? and settlement_month = ?
         and isrc = ? and right_type = ? and party_id = ?`,
        [slice.distributorId, monthDate(slice.month), ...middleKey(staged)],
      )
      if (rows.length === (step === 'register' ? 1 : 0)) return
      if (ended()) throw new Error('it ended before it was half way')
      await sleep(POLL_MS)
    }
  } finally {
    watcher.destroy()
  }
}
