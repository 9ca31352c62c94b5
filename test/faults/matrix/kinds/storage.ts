import type { TransferFault } from '../../../support/storage-relay.ts'
import type { Fault, Trial } from '../fault.ts'
import type { Moment } from '../moments.ts'

/* What may happen to objects in S3, and to their transfer. */

/** A staged object that is read late in the run. */
const CHUNK = '000006.tsv'

const stagedKey = ({ request }: Trial, name: string): string =>
  `staged/${(request.source as { staged: string }).staged}/${name}`

/** A file of this size is one chunk. */
const upload = async (trial: Trial): Promise<void> => {
  const [file] = trial.files
  if (file !== undefined) trial.request.source = await trial.on.upload(file)
}

const replaced: Fault = {
  id: 's3-upload-replaced',
  title: 'The uploaded object replaced by another file',
  suits: ({ inChunk, needs }) => !inChunk && needs !== 'failure' && needs !== 'undo',
  prepare: upload,
  place: ({ place }) => ({ ...place, skip: 0 }),
  strike: async (trial) => {
    const other = trial.lab.newFile(90)
    trial.files.push(other)
    await trial.on.put((trial.request.source as { key: string }).key, other.csv)
  },
}

const BEFORE_REGISTERED = ['OpenJob', 'PlanDelete', 'DeleteChunk', 'MarkDeleted', 'BeginRegistering', 'RegisterChunk']

const damaged = (
  id: string,
  title: string,
  name: string,
  tasks: string[],
  damage: (body: string) => string,
): Fault => ({
  id,
  title,
  suits: ({ inChunk, task }) => !inChunk && tasks.includes(task),
  strike: async (trial) => {
    const key = stagedKey(trial, name)
    const body = await trial.on.get(key)
    await trial.on.put(key, damage(body))
    trial.repair = () => trial.on.put(key, body)
  },
})

const stagedReplaced = damaged(
  's3-staged-replaced',
  'A staged object replaced by other rows',
  CHUNK,
  BEFORE_REGISTERED,
  (body) => body.replace(/\d\n/, (end) => (end === '1\n' ? '2\n' : '1\n')),
)
const stagedTruncated = damaged('s3-staged-truncated', 'A staged object truncated', CHUNK, BEFORE_REGISTERED, (body) =>
  body.slice(0, body.indexOf('\n', body.length / 2) + 1),
)
const manifestTruncated = damaged(
  's3-manifest-truncated',
  'The manifest truncated',
  'manifest.json',
  ['OpenJob', 'PlanDelete', 'DeleteChunk', 'MarkDeleted'],
  (body) => body.slice(0, -10),
)

/** Which object each task reads. */
const READ: Partial<Record<Moment['task'], RegExp>> = {
  StageSource: /incoming\//,
  BeginRegistering: /manifest\.json/,
  RegisterChunk: /000003\.tsv/,
}

const transfer = (kind: TransferFault['kind'], id: string, title: string): Fault => ({
  id,
  title,
  suits: ({ inChunk, task }) => !inChunk && task in READ,
  prepare: async (trial) => {
    if (trial.moment.task === 'StageSource') await upload(trial)
  },
  await: async ({ on, moment: { task } }) => {
    await on.storageRelay.arm({ task, key: READ[task] ?? /^$/, kind }).hit
  },
})

const cutShort = transfer('cut', 's3-transfer-cut', 'The transfer of an object cut half way')
/** Each lasts as long as the guard against stalls, 20-30 s. */
const stalled = transfer('stall', 's3-transfer-stalled', 'The transfer of an object stalled half way')

export const STORAGE_FAULTS: readonly Fault[] = [
  replaced,
  stagedReplaced,
  stagedTruncated,
  manifestTruncated,
  cutShort,
  stalled,
]
