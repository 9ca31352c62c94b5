import { cdk, deploy } from './cdk.ts'
import { command } from './commands.ts'
import { ACCOUNT, REGION, STAGE } from './place.ts'
import { monthScheduled, scheduleNow } from './schedule.ts'
import { addMigration, changeMigration, changeTasks } from './source.ts'
import { ask, DISTRIBUTOR, expectEqual, fileOf, lockOf, type Run, settledRows } from './steps.ts'
import { deleteStores, stopProtecting } from './teardown.ts'

const JOB = `Sharelock-${STAGE}-Job`
const DATA = `Sharelock-${STAGE}-Data`

/** The distributor that the schedule finds; SMOKE is active in no month. */
const MONTHLY = 'ARIA'

export type Step = { readonly name: string; readonly act: (run: Run) => Promise<string> }

/** In their order; each goes on from what the one before left. */
export const STEPS: readonly Step[] = [
  { name: 'a job through the deployed machine', act: (run) => oneJob(run) },
  { name: 'the commands that prove a stage', act: (run) => proof(run) },
  { name: 'the schedule starts the month', act: (run) => month(run) },
  { name: 'a second deployment while a job runs', act: (run) => secondDeployment(run) },
  { name: 'a migration that fails, and its repetition', act: (run) => failedMigration(run) },
  { name: 'taking the stage away', act: (run) => teardown(run) },
]

const input = (month: string, key: string) => ({
  distributor: DISTRIBUTOR,
  month,
  source: { key },
  requestedBy: 'test',
})

const oneJob = async ({ account, bucket, jobMachine, place }: Run): Promise<string> => {
  const key = `incoming/${DISTRIBUTOR}/first.csv`
  await account.put(bucket, key, fileOf('P.1'))
  const ended = await account.succeeded(await account.start(jobMachine, 'first', input('2099-01', key)))
  expectEqual('the job', (ended.job as { state: string }).state, 'REGISTERED')
  expectEqual('the rows that readers see', await settledRows(place, '2099-01'), 100)
  const logins = [...place.doors.logins].map(([user, count]) => `${user} ${count}`).join(', ')
  expectEqual('refused logins', place.doors.refused, [])
  return `REGISTERED, 100 rows; logins: ${logins}`
}

/** As docs/first-deployment.md has it; SMOKE is there, since the stage says who proves it. */
const proof = async ({ place, bucket, jobMachine }: Run): Promise<string> => {
  const smoke = await command(place, 'smoke', [], { BUCKET: bucket, STATE_MACHINE_ARN: jobMachine })
  if (!/ok {2}the job is REGISTERED/.test(smoke)) throw new Error(`The small job printed:\n${smoke}`)
  await command(place, 'sharelock', ['doctor', '--month', '2099-12'])
  await command(place, 'sharelock', ['distributors', 'add', MONTHLY, '--name', 'Aria Music'])
  return `npm run smoke; sharelock doctor; sharelock distributors add ${MONTHLY}`
}

/** Not the tenth of the month, but now: everything else of the schedule is as it was deployed. */
const month = async (run: Run): Promise<string> => {
  const { account, bucket, dispatchMachine, place } = run
  const settled = monthScheduled(new Date())
  await account.put(bucket, `incoming/${MONTHLY}/${settled}.csv`, fileOf('P.2'))
  await scheduleNow(place, dispatchMachine)
  const { month: planned, outcomes } = await account.succeeded(await account.firstExecution(dispatchMachine))
  expectEqual('the month of the plan', (planned as { month: string }).month, settled)
  if (JSON.stringify(outcomes) !== '["registered"]')
    throw new Error(`The dispatch ended with ${JSON.stringify(outcomes)} on the plan ${JSON.stringify(planned)}`)
  expectEqual('the rows that readers see', await settledRows(place, settled), 100)
  return `${settled} REGISTERED by the schedule`
}

/** The job waits for its lock, which somebody else holds, until the second release is there. */
const secondDeployment = async (run: Run): Promise<string> => {
  const { account, bucket, jobMachine, place, source } = run
  const key = `incoming/${DISTRIBUTOR}/second.csv`
  await account.put(bucket, key, fileOf('P.3'))
  await place.valkey.set(lockOf('2099-02'), 'somebody/else')
  const execution = await account.start(jobMachine, 'second', { ...input('2099-02', key), onHeld: 'wait' })
  await account.eventually('a lock that is waited for', async () => {
    const called = await account.called(execution)
    return called.some((each) => each.includes('AcquireLock'))
  })
  changeTasks(source, 'two')
  await deploy(place, source, [JOB])
  expectEqual('the execution', (await account.describe(execution)).status, 'RUNNING')
  await place.valkey.del(lockOf('2099-02'))
  await account.succeeded(execution)
  expectEqual('the rows that readers see', await settledRows(place, '2099-02'), 100)
  const before = versionOf(await account.called(execution), 'RegisterChunk')
  await account.put(bucket, key, fileOf('P.4'))
  const after = await account.start(jobMachine, 'third', input('2099-03', key))
  await account.succeeded(after)
  const now = versionOf(await account.called(after), 'RegisterChunk')
  if (before === now) throw new Error(`Both runs called RegisterChunk ${now}: the second release is not there`)
  return `the job ended on version ${before} of RegisterChunk, the next one on ${now}`
}

const versionOf = (called: readonly string[], task: string): string => {
  const found = called
    .find((each) => each.includes(task))
    ?.split(':')
    .at(-1)
  if (found === undefined) throw new Error(`The history names no call of ${task}`)
  return found
}

const BROKEN =
  '-- A first half that stays, and a second that fails.\ncreate table deploy_test (id int primary key);\nalter table not_there add column x int;\n'
const REPAIRED = 'create table if not exists deploy_test (id int primary key);\n'

const failedMigration = async (run: Run): Promise<string> => {
  const { place, source } = run
  addMigration(source, '900-deploy-test.sql', BROKEN)
  const failure = await deploy(place, source, [JOB]).then(
    () => undefined,
    (error: unknown) => String(error),
  )
  if (failure === undefined) throw new Error('The deployment of a broken migration went well')
  if (!/not_there|Migration/.test(failure)) throw new Error(`The deployment failed for something else: ${failure}`)
  expectEqual('applied', await migrated(run), 0)
  // The old release goes on beside the half migration.
  await stillWorks(run, '2099-04')
  changeMigration(source, '900-deploy-test.sql', REPAIRED)
  await deploy(place, source, [JOB])
  expectEqual('applied', await migrated(run), 1)
  await stillWorks(run, '2099-05')
  return 'failed, rolled back, worked on; repaired, applied, works'
}

const migrated = async ({ place }: Run): Promise<number> =>
  (await ask(place, "select 1 from schema_migration where name = '900-deploy-test.sql'")).length

/** A file of its own for each month: the same rows in two months are a warning. */
const stillWorks = async ({ account, bucket, jobMachine, place }: Run, month: string): Promise<void> => {
  const key = `incoming/${DISTRIBUTOR}/${month}.csv`
  await account.put(bucket, key, fileOf(`P.${month}`))
  await account.succeeded(await account.start(jobMachine, `works-${month}`, input(month, key)))
  expectEqual('the rows that readers see', await settledRows(place, month), 100)
}

/** In the order of docs/deployments.md. */
const teardown = async (run: Run): Promise<string> => {
  const { place, source } = run
  await cdk(place, source, ['destroy', JOB, '--force'])
  const refused = await cdk(place, source, ['destroy', DATA, '--force']).then(
    () => undefined,
    (error: unknown) => String(error),
  )
  if (refused === undefined) throw new Error('A protected data stack was deleted')
  await deleteStores(place, STAGE)
  await stopProtecting(place, DATA)
  await cdk(place, source, ['destroy', DATA, '--force'])
  return `both stacks are gone from ${ACCOUNT} in ${REGION}; the protected one refused to go first`
}
