import type { Changer, Reader } from '../mysql/tx.ts'

/*
 * A restored database has forgotten the newest fences; executions, consumers of the topic and people have not. What it can't
 * have forgotten is that it is another server now: RDS restores into a new instance only, with an id of its own on both sides,
 * in MySQL and in RDS. So the first fence there is issued above a floor that no fence from before has reached.
 *
 *   server A   1  2  3 (snapshot)  4  5  6          consumers have seen 6
 *   server B   1  2  3  ................  floor, floor + 1
 *
 * The floor is the time in seconds. Fences count from 1, or from the floor of an earlier restore, once per opening and halt of
 * a slice: fewer than one a second in the mean, so none has caught up with the clock.
 * See decisions.md, "A restored database issues fences above a floor".
 */

type Row = { readonly floor: number; readonly isHome: number }

/** The least fence that may be issued here. In the transaction that issues it: it raises the floor where that is due. */
export const fenceFloor = async (tx: Reader & Changer): Promise<number> => {
  const seen = await readFloor(tx)
  if (seen.isHome === 1) return seen.floor
  await raise(tx, 'server_uuid <> @@server_uuid')
  return (await readFloor(tx)).floor
}

/**
 * The same for the instance's id as the deployment knows it, before any function may log in to that instance.
 *
 * @returns whether the floor was raised
 */
export const knowInstance = async (database: Reader & Changer, resourceId: string): Promise<boolean> => {
  await fenceFloor(database)
  const raised = await raise(database, 'resource_id <> ?', [resourceId])
  await database.change('update fence_floor set resource_id = ? where id = 1', [resourceId])
  return raised
}

const readFloor = async (reader: Reader): Promise<Row> => {
  const [row] = await reader.rows<Row>(
    'select floor, server_uuid = @@server_uuid as isHome from fence_floor where id = 1',
  )
  if (row === undefined) throw new Error('The row of fence_floor is gone: no fence can be issued safely. Restore it.')
  return row
}

/**
 * Whoever is second waits for the first, finds nothing to raise any more, and reads the same floor. Above all fences that
 * are here in any case, whatever the server's clock says; they are read apart, for a subquery would lock them.
 */
const raise = async (channel: Reader & Changer, where: string, params: string[] = []): Promise<boolean> => {
  const [newest] = await channel.rows<{ fence: number }>('select coalesce(max(fence), 0) as fence from job')
  const { affectedRows } = await channel.change(
    `update fence_floor
     set floor = greatest(floor + 1, unix_timestamp(), ? + 1), server_uuid = @@server_uuid,
         raised_at = current_timestamp(6)
     where id = 1 and ${where}`,
    [newest?.fence ?? 0, ...params],
  )
  return affectedRows === 1
}
