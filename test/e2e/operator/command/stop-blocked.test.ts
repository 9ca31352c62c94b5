import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { expect, test } from 'vitest'
import { BLOCKED_TRIES_MAX } from '../../../../functions/contract/limits.ts'
import { holdTask } from '../../../support/faults.ts'
import { expectSettled, jobsOf, lockOf } from '../../../support/invariants.ts'
import { named, useOperator } from '../../../support/operator.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'

/* An operator's command that has to wait for another program's session: it names who that is, and changes nothing. */
const on = useStack()
const operator = useOperator(on)

const FILE = shareFile(400, 53)
const PASSWORD = 'settles'

/** Logs another program in, under a user of its own that may lock jobs. */
const loginAs = async (user: string): Promise<{ connection: Connection; session: number }> => {
  await on().outside.query(`create user ? identified by ?`, [user, PASSWORD])
  await on().outside.query('grant select, update on ??.job to ?', [on().stack.database.name, user])
  const { host, port, name } = on().stack.database
  const connection = await createConnection({ host, port, database: name, user, password: PASSWORD })
  connection.on('error', () => undefined)
  const [[row]] = await connection.query<RowDataPacket[]>('select connection_id() as session')
  return { connection, session: Number(row?.session) }
}

test("stop beside another user's lock names the user and the session, and halts once that one ended", async () => {
  const slice = await on().newSlice()
  const source = await on().stage(FILE, 60)
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  const arn = await on().start({ ...slice, source })
  await atChunk.reached
  const [job] = await jobsOf(on(), slice)
  const user = `settlement_${process.pid}`
  const { connection, session } = await loginAs(user)
  await connection.query('start transaction')
  await connection.query('select id from job where id = ? for update', [job?.id])

  const refused = await operator.json<{ message: string }>('stop', ...named(slice), '--why', 'wrong file')
  expect(refused).toMatchObject({ code: 4, error: 'Busy' })
  expect(refused.message).toContain(`session ${session} of ${user}@`)
  expect(refused.message).toContain(`kill ${session}`)
  // Of LOCK_WAIT_TIMEOUT_S each: nobody sits before a silent command for a minute.
  expect(refused.message).toContain(`after ${BLOCKED_TRIES_MAX} tries`)
  expect(await jobsOf(on(), slice)).toEqual([job])
  expect(await lockOf(on(), slice), 'the run goes on').not.toBeNull()

  await connection.query('commit')
  await connection.end()
  expect(await operator.json('stop', ...named(slice))).toMatchObject({ code: 0, halted: true, job: job?.id })
  atChunk.release()
  await on().ended(arn)
  expect(await on().run({ ...slice, source })).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, FILE)
  await on().outside.query('drop user ?', [user])
})
