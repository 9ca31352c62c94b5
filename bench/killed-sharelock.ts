import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn'
import type { Slice } from '../functions/contract/words.ts'
import { newestJobId } from '../local/day/setting.ts'
import { sliceFingerprint } from '../local/fingerprint.ts'
import type { Ground, Registered } from './ground.ts'
import { untilHalfway } from './halfway.ts'
import type { Killed } from './killed.ts'
import type { Step } from './peers/way.ts'
import { startRun, untilRegistered } from './sharelock.ts'
import type { StagedFile } from './staged-file.ts'

const TASKS = { delete: 'DeleteChunk', register: 'RegisterChunk' } as const

/** What a settlement program meets: rows of the view, and the sentence it gets when it insists. */
const readerSees = async ({ setting: { database } }: Ground, { distributor, month }: Slice): Promise<string> => {
  const [row] = await database.rows<{ count: number }>(
    'select count(*) as count from settled_share_ratio where distributor = ? and settlement_month = ?',
    [distributor, `${month}-01`],
  )
  const sentence = await database.rows('call require_settled_slice(?, ?)', [distributor, month]).then(
    () => 'no error',
    (error: Error) => `“${error.message}”`,
  )
  return `${row?.count ?? 0} rows, and ${sentence}`
}

const countRows = async ({ setting: { database } }: Ground, slice: Slice): Promise<number> => {
  const [row] = await database.rows<{ count: number }>(
    'select count(*) as count from share_ratio where distributor_id = ? and settlement_month = ?',
    [slice.distributorId, `${slice.month}-01`],
  )
  return row?.count ?? 0
}

/** Starts a run and stands at the middle of its step. */
const halfway = async (ground: Ground, registered: Registered, staged: StagedFile, step: Step): Promise<string> => {
  const { slice, digest } = registered
  const before = await newestJobId(ground.setting, slice)
  const arn = await startRun(ground, slice, { staged: digest })
  let ended = false
  void ground.setting.operator.end(arn).then(() => {
    ended = true
  })
  // The slice is full until its old rows go: its middle comes back only while new ones are registered.
  await untilHalfway(ground.stack, slice, staged, 'delete', () => ended)
  if (step === 'register') await untilHalfway(ground.stack, slice, staged, 'register', () => ended)
  if (before === (await newestJobId(ground.setting, slice))) throw new Error('no job was opened')
  return arn
}

/** Every worker of the step is killed; nobody does anything. */
export const killWorkers = async (
  ground: Ground,
  registered: Registered,
  staged: StagedFile,
  expected: string,
  step: Step,
): Promise<Killed> => {
  const { slice, rows } = registered
  const arn = await halfway(ground, registered, staged, step)
  let killed = 0
  for (const sandbox of ground.stack.lambda.sandboxes)
    if (sandbox.fn.name === TASKS[step] && sandbox.state === 'busy') {
      process.kill(sandbox.pid, 'SIGKILL')
      killed += 1
    }
  const left = await countRows(ground, slice)
  const reader = await readerSees(ground, slice)
  await untilRegistered(ground, arn)
  const exact =
    String(await sliceFingerprint(ground.stack.database.masterAddress, slice.distributor, slice.month)) === expected
  const again = 'not needed: the machine retried the workers'
  return {
    way: `Sharelock, ${killed} workers killed`,
    step,
    left,
    rows,
    reader,
    again,
    exact,
    safe: exact && reader.startsWith('0 rows'),
  }
}

/** The execution is stopped, its workers killed with it; then the same run is started again. */
export const stopRun = async (
  ground: Ground,
  registered: Registered,
  staged: StagedFile,
  expected: string,
  step: Step,
): Promise<Killed> => {
  const { slice, rows, digest } = registered
  const arn = await halfway(ground, registered, staged, step)
  const sfn = new SFNClient({
    region: 'ap-northeast-2',
    endpoint: ground.stack.url,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  await sfn.send(new StopExecutionCommand({ executionArn: arn }))
  sfn.destroy()
  for (const sandbox of ground.stack.lambda.sandboxes)
    if (sandbox.fn.name === TASKS[step]) process.kill(sandbox.pid, 'SIGKILL')
  await ground.stack.lambda.settled()
  const left = await countRows(ground, slice)
  const reader = await readerSees(ground, slice)
  const second = await startRun(ground, slice, { staged: digest })
  await untilRegistered(ground, second)
  const exact =
    String(await sliceFingerprint(ground.stack.database.masterAddress, slice.distributor, slice.month)) === expected
  return {
    way: 'Sharelock, execution stopped',
    step,
    left,
    rows,
    reader,
    again: 'succeeds, from where it stood',
    exact,
    safe: exact && reader.startsWith('0 rows'),
  }
}
