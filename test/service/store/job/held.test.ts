import { describe, expect, test } from 'vitest'
import { FENCE_PATIENCE_S, LOCK_PATIENCE_S } from '../../../../functions/contract/limits.ts'
import { openJob } from '../../../../functions/job/open-job.ts'
import { exclusively } from '../../../../functions/store/job/held.ts'
import { statement, transaction } from '../../../../functions/store/mysql/transaction.ts'
import { opening, testContext } from '../../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../../support/test-database.ts'

const db = useTestDatabase('transaction')
const error = (more: object): Error => Object.assign(new Error('as the driver says it'), more)

describe('work that holds the job row', () => {
  const newJob = async () => openJob(testContext(db.connect()), opening(await newSlice(db.outside), 'a/1', null))

  test('is impatient with everybody in its way, and only as long as it lasts', async () => {
    const database = db.connect()
    const { id } = await newJob()
    const patience: (number | undefined)[] = []
    const rows = database.rows.bind(database)
    database.rows = async (sql, params, options) => {
      patience.push(options?.patienceS)
      return await rows(sql, params, options)
    }
    await exclusively(database, id, (held) => held.rows('select 1'))
    await transaction(database, (tx) => tx.rows('select 1'))
    await statement(database, (reader) => reader.rows('select 1'))
    expect(patience).toEqual([FENCE_PATIENCE_S, FENCE_PATIENCE_S, LOCK_PATIENCE_S, undefined])
  })

  test('passes on what is wrong besides the wait for the row', async () => {
    const thrown = error({ errno: 1062 })
    const work = exclusively(db.connect(), (await newJob()).id, () => Promise.reject(thrown))
    await expect(work).rejects.toMatchObject({ cause: thrown })
    const elsewhere = db.connect()
    const rows = elsewhere.rows.bind(elsewhere)
    elsewhere.rows = async (sql, params, options) => {
      if (sql.includes('for update')) throw thrown
      return await rows(sql, params, options)
    }
    await expect(exclusively(elsewhere, 1, async () => 'done')).rejects.toMatchObject({ cause: thrown })
  })

  test('keeps everybody else out until it ends', async () => {
    const { id } = await newJob()
    const order: string[] = []
    const inside = async (name: string) => {
      order.push(`${name} begins`)
      await new Promise((resume) => setTimeout(resume, 50))
      order.push(`${name} ends`)
    }
    await Promise.all(['a', 'b'].map((name) => exclusively(db.connect(), id, () => inside(name))))
    expect(order.map((line) => line.slice(2))).toEqual(['begins', 'ends', 'begins', 'ends'])
  })
})
