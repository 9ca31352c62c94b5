import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn'
import type { Slice } from '../../../functions/contract/words.ts'
import { sliceFingerprint } from '../../../local/fingerprint.ts'
import { newestJobId, startRun, untilEnded, untilRegistered } from '../../harness/sharelock.ts'
import type { StagedFile } from '../../harness/staged-file.ts'
import type { Registered, Testbed } from '../../harness/testbed.ts'
import type { Step } from '../../peers/method.ts'
import { untilHalfway } from './halfway.ts'
import type { Killed } from './peer.ts'

const TASKS = { delete: 'DeleteChunk', register: 'RegisterChunk' } as const

/** What a settlement program meets: rows of the view, and the sentence it gets when it insists. */
const readerSees = async ({ setting: { database } }: Testbed, { distributor, month }: Slice): Promise<string> => {
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

const countRows = async ({ setting: { database } }: Testbed, slice: Slice): Promise<number> => {
  const [row] = await database.rows<{ count: number }>(
    `select count(*) as count from share_ratio where distributor_id = ? and settlement_month = ? and isrc > '' and isrc < '['`,
    [slice.distributorId, `${slice.month}-01`],
  )
  return row?.count ?? 0
}

/** Starts a run and waits at the middle of its step. */
const halfway = async (testbed: Testbed, registered: Registered, staged: StagedFile, step: Step): Promise<string> => {
  const { slice, digest } = registered
  const before = await newestJobId(testbed, slice)
  const arn = await startRun(testbed, slice, { staged: digest })
  let ended = false
  void untilEnded(testbed, arn).then(() => {
    ended = true
  })
  // The slice is full until its old rows go: its middle comes back only while new ones are registered.
  await untilHalfway(testbed.stack, slice, staged, 'delete', () => ended)
  if (step === 'register') await untilHalfway(testbed.stack, slice, staged, 'register', () => ended)
  if (before === (await newestJobId(testbed, slice))) throw new Error('no job was opened')
  return arn
}

/** What strikes a run half way, and what somebody has to do then. */
type Blow = {
  readonly name: string
  readonly strike: (testbed: Testbed, arn: string, step: Step) => Promise<void>
  readonly again: string
  /** @returns the ARN of the execution that brings the job to its end */
  readonly resume: (testbed: Testbed, registered: Registered, arn: string) => Promise<string>
}

const killSandboxes = ({ stack }: Testbed, step: Step): void => {
  for (const { fn, pid } of stack.lambda.sandboxes) if (fn.name === TASKS[step]) process.kill(pid, 'SIGKILL')
}

/** As when Lambda loses its workers: nobody does anything. */
const workersKilled: Blow = {
  name: 'workers killed',
  strike: async (testbed, _arn, step) => killSandboxes(testbed, step),
  again: 'not needed: the machine retried its workers',
  resume: async (_ground, _registered, arn) => arn,
}

/** As when an operator, or a timeout, ends the execution in the middle: its status event halts the job. */
const executionStopped: Blow = {
  name: 'execution stopped, workers killed',
  strike: async (testbed, arn, step) => {
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
    const sfn = new SFNClient({ region: 'ap-northeast-2', endpoint: testbed.stack.url, credentials })
    await sfn.send(new StopExecutionCommand({ executionArn: arn }))
    sfn.destroy()
    killSandboxes(testbed, step)
    await testbed.stack.lambda.settled()
  },
  again: 'succeeds, from where it was',
  resume: (testbed, { slice, digest }) => startRun(testbed, slice, { staged: digest }),
}

export const BLOWS = [workersKilled, executionStopped] as const

/** Strikes a run of Sharelock half way, looks as its readers do, and brings it to its end. */
export const strikeSharelock = async (
  testbed: Testbed,
  registered: Registered,
  staged: StagedFile,
  step: Step,
  { name, strike, again, resume }: Blow,
  expected: string,
): Promise<Killed> => {
  const { slice, rows } = registered
  const arn = await halfway(testbed, registered, staged, step)
  await strike(testbed, arn, step)
  const left = await countRows(testbed, slice)
  const reader = await readerSees(testbed, slice)
  await untilRegistered(testbed, await resume(testbed, registered, arn))
  const found = await sliceFingerprint(testbed.stack.database.masterAddress, slice.distributor, slice.month)
  const exact = String(found) === expected
  return {
    method: `Sharelock, ${name}`,
    step,
    left,
    rows,
    reader,
    again,
    exact,
    safe: exact && reader.startsWith('0 rows'),
  }
}
