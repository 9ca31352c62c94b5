import type { MysqlServer } from '../../../../local/servers/mysql.ts'
import { pause } from '../../../support/faults.ts'
import type { HitTransfer } from '../../../support/storage-relay.ts'
import type { Silence } from '../../../support/topic-relay.ts'
import { type Fault, startAgain, type Trial } from '../fault.ts'
import type { Moment } from '../moments.ts'

/* What does not fail and does not answer either: longer than a task has time. */

type Slow = {
  readonly key: RegExp
  /** The task's time is cut to this, ms: a chunk loop stops by itself with less than 40 s left. */
  readonly timeMs: number
  /** Where the next invocation of the same sandbox is met: what an old one rolls back then is the whole of its work. */
  readonly meeting: RegExp
}

const SLOW: Partial<Record<Moment['task'], Slow>> = {
  StageSource: { key: /incoming\//, timeMs: 10_000, meeting: /from distributor/ },
  BeginRegistering: { key: /manifest\.json/, timeMs: 10_000, meeting: /^start transaction/ },
  RegisterChunk: { key: /000003\.tsv/, timeMs: 44_000, meeting: /^start transaction/ },
}

/** What an old invocation might still do, with an answer that it has been waiting for. */
const LATE_MS = 400

/**
 * The slow transfer's answer comes when its sandbox serves another invocation, in the middle of that one's transaction. The
 * runs have no lock, so that nothing but the fence and the sandbox itself keeps the two apart.
 */
const s3Slow: Fault = {
  id: 's3-slow',
  title: "A transfer from S3 slower than the task's time; it completes in the middle of the sandbox's next invocation",
  runMs: 180_000,
  suits: ({ inChunk, task }) => !inChunk && task in SLOW,
  prepare: async (trial) => {
    const { on, moment, files, request } = trial
    request.onOutage = 'proceed'
    on.lockRelay.arm({ task: 'AcquireLock', moment: 'before', times: 1_000, act: (at) => at.cut() })
    if (moment.task === 'StageSource' && files[0] !== undefined) request.source = await on.upload(files[0])
    on.stack.lambda.timeLimits.set(moment.task, SLOW[moment.task]?.timeMs ?? 0)
  },
  await: async (trial) => {
    const { on, moment } = trial
    const { key = /^$/, meeting = /^$/ } = SLOW[moment.task] ?? {}
    const slow = await on.storageRelay.arm({ task: moment.task, key, kind: 'slow' }).hit
    on.stack.lambda.timeLimits.delete(moment.task)
    completeInNext(trial, meeting, slow)
  },
  heal: async (trial, end) => {
    if (end.status === 'SUCCEEDED') return
    // Started while the old answer is still on its way.
    const { status, error, cause } = await trial.on.ended(await startAgain(trial))
    if (status !== 'SUCCEEDED') trial.violations.push(`the next run was ended by an old invocation: ${error} ${cause}`)
  },
}

const completeInNext = ({ on, moment }: Trial, meeting: RegExp, { pid, release }: HitTransfer): void => {
  const { lambda } = on.stack
  let isHitCall = true
  let isMet = false
  const stop = lambda.onReturn(async ({ sandbox, functionName }) => {
    if (sandbox.pid !== pid) return
    stop()
    isHitCall = false
    // The next invocation has nobody else to go to.
    const others = lambda.sandboxes.filter(({ fn, state }) => fn.name === functionName && state === 'idle')
    await Promise.all(others.filter((one) => one.pid !== pid).map((one) => one.end()))
  })
  on.relay.arm({
    ...{ task: moment.task, sql: meeting, moment: 'after', times: 10_000 },
    act: async (at) => {
      if (at.pid !== pid || isHitCall || isMet) return
      isMet = true
      release()
      await pause(LATE_MS)
    },
  })
}

const topic = (silence: Silence, id: string, title: string): Fault => ({
  id,
  title,
  // The job is REGISTERED: a topic that does not answer may not keep its run.
  suits: ({ task }) => task === 'PublishEvents',
  place: ({ place }) => ({ ...place, sql: /from outbox/, when: 'after' }),
  strike: ({ on }) => {
    on.topicRelay.silence = silence
  },
  heal: async ({ on, violations }, { status, error }) => {
    if (on.topicRelay.unheard === 0) violations.push('nobody spoke to the topic while it was silent')
    if (status !== 'SUCCEEDED') violations.push(`a run that had registered its rows was ended as ${error}`)
    on.topicRelay.disarmAll()
  },
})

const FROZEN_MS = 60_000

const server = ({ on }: Trial): MysqlServer => {
  const { server } = on.stack.database
  if (server === undefined) throw new Error('The faults need a MySQL of their own')
  return server
}

/** Each costs its minute. What was sent meanwhile is done when the server goes on, a COMMIT among it. */
const FROZEN = ['open-job', 'register-chunk-after-write', 'mark-registered']

const frozen: Fault = {
  id: 'mysql-frozen',
  title: `MySQL frozen for ${FROZEN_MS / 1_000} s (SIGSTOP), in the middle of a transaction`,
  runMs: 300_000,
  suits: ({ id }) => FROZEN.includes(id),
  strike: (trial) => server(trial).freeze(),
  beside: async (trial) => {
    await pause(FROZEN_MS)
    server(trial).thaw()
  },
}

export const SLOW_FAULTS: readonly Fault[] = [
  s3Slow,
  topic('silent', 'sns-silent', 'SNS silent: it takes a request and does nothing, until the run has ended'),
  topic(
    'unanswered',
    'sns-unanswered',
    'SNS without an answer: it takes the event and tells nobody, until the run has ended',
  ),
  frozen,
]
