import { expect, test } from 'vitest'
import { Database } from '../../../../functions/store/mysql/database.ts'
import { SESSION_SETTINGS } from '../../../../functions/store/mysql/session-settings.ts'
import { createAppUser } from '../../../../functions/store/schema/app-user.ts'
import { LEFT_AS_THEY_ARE, NAMES_SETS } from '../../../support/inherited-variables.ts'
import { useTestDatabase } from '../../../support/test-database.ts'

const db = useTestDatabase('settings')
const OURS = [...Object.keys(SESSION_SETTINGS), ...NAMES_SETS]

const has = async (scope: 'global' | 'session', name: string): Promise<boolean> =>
  await db.outside.rows(`select @@${scope}.${name}`).then(
    () => true,
    () => false,
  )

/** Every variable of this server whose value a new session takes from the server's. */
const inherited = async (): Promise<string[]> => {
  const rows = await db.outside.rows<{ name: string }>(
    'select variable_name as name from performance_schema.session_variables order by variable_name',
  )
  const names: string[] = []
  // Server-wide ones are listed too; a session has no value of theirs.
  for (const { name } of rows) if ((await has('session', name)) && (await has('global', name))) names.push(name)
  return names
}

test('each variable that a session inherits is set by us, or left as it is for a written reason', async () => {
  const names = await inherited()
  expect(names.length).toBeGreaterThan(100)
  const unknown = names.filter((name) => !OURS.includes(name) && !LEFT_AS_THEY_ARE.includes(name))
  expect(
    unknown,
    'This MySQL has variables that nobody thought about: set each in functions/store/mysql/session-settings.ts if it changes what our statements do, or add it with its reason to test/support/inherited-variables.ts.',
  ).toEqual([])
})

test('no variable is both set and left as it is', () => {
  const all = [...OURS, ...LEFT_AS_THEY_ARE]
  expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([])
})

test('each setting is in effect for the functions’ user, who has no privilege to set variables', async () => {
  const name = `settings_${process.pid}`
  await createAppUser(db.address, { name, auth: 'password', password: 'secret' })
  const database = new Database({ ...db.address, DATABASE_USER: name, DATABASE_PASSWORD: 'secret' })
  for (const [variable, value] of Object.entries(SESSION_SETTINGS)) {
    const [row] = await database.rows<{ same: number }>(`select @@session.${variable} = ${value} as same`)
    expect({ variable, ...row }).toEqual({ variable, same: 1 })
  }
  await database.close()
  await db.outside.change('drop user ?', [name])
})
