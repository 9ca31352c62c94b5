import { expect, test } from 'vitest'
import { openJob } from '../../../../functions/job/open-job.ts'
import { Database } from '../../../../functions/store/mysql/database.ts'
import { createAppUser, privilegesOf } from '../../../../functions/store/schema/app-user.ts'
import { loadRows } from '../../../support/rows.ts'
import { headOf, opening, testContext } from '../../../support/test-context.ts'
import { linesOf, newSlice, useTestDatabase } from '../../../support/test-database.ts'

const db = useTestDatabase('app')
const name = `app_${process.pid}`

test('the functions run as a user who can do their work, kill their own frozen workers, and nothing else', async () => {
  await createAppUser(db.address, { name, auth: 'password', password: 'first' })
  await createAppUser(db.address, { name, auth: 'password', password: 'second' })
  const connect = () => new Database({ ...db.address, DATABASE_USER: name, DATABASE_PASSWORD: 'second' })
  const [app, frozen] = [connect(), connect()]
  const slice = await newSlice(db.outside)
  expect(await loadRows(app, slice, linesOf(0, 2))).toEqual({ rows: 8, warnings: 0 })
  const job = await openJob(testContext(app), opening(slice, 'a/1', null))
  await frozen.begin()
  await frozen.rows('select id from job where id = ? for share', [job.id])
  expect(await openJob(testContext(app), opening(slice, 'b/2', headOf(job)))).toMatchObject({ fence: 2 })
  for (const forbidden of [
    'drop table share_ratio',
    'delete from job',
    'delete from audit',
    'delete from profile',
    'update profile set version = 0',
    `update audit set why = ''`,
    'delete from distributor',
    'create table x (a int)',
    'select * from mysql.user',
  ])
    await expect(app.change(forbidden)).rejects.toThrow(/denied/)
  expect((await privilegesOf(db.address, name)).join('\n')).not.toMatch(/ALL PRIVILEGES|GRANT OPTION|SUPER/)
  await Promise.all([app.close(), frozen.close()])
  await db.outside.change('drop user ?', [name])
})

test('on a server without the RDS plugin the IAM branch says which plugin is missing', async () => {
  await expect(createAppUser(db.address, { name: `${name}_iam`, auth: 'iam' })).rejects.toThrow(
    /AWSAuthenticationPlugin/,
  )
})
