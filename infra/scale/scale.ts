import { planItems } from '../../functions/contract/chunks.ts'
import { CHUNK_ROWS_MAX, HISTORY_EVENTS_MAX, LOCK_TTL_MS, PAYLOAD_BYTES_MAX } from '../../functions/contract/limits.ts'
import { count } from '../../functions/contract/numbers.ts'
import { SOURCE_BYTES_MAX, SOURCE_ROWS_MAX } from '../../functions/contract/source-limits.ts'
import { TASKS, type TaskName } from '../../functions/contract/tasks.ts'

/*
 * What a run costs and which limit it meets first, computed from the constants the code runs by. docs/scale.md is written
 * from this, and a test compares the two.
 */

/** Measured, or taken from AWS's lists of prices from memory; each says which. */
export const ASSUMED = {
  /** Measured on 2 cores with two lanes (docs/benchmarks.md): about 220,000 rows/s deleted and 170,000 loaded. A lane does half. */
  laneRowsPerS: 100_000,
  /** Measured: decoding, validating, sorting and cutting take 7 s of CPU for 800,000 rows, on one core. */
  stageRowsPerS: 110_000,
  /** A task that reads or writes a row or two, MySQL and Valkey in the same region. */
  lightTaskS: 0.2,
  /** Counting and summing a slice, at about 4 million rows/s. */
  scanRowsPerS: 4_000_000,
  /** Bytes of one staged line: ISRC, right type, party, share and their separators. */
  stagedRowBytes: 45,
  /** Measured: growth of the resident memory per row while a file is sorted, and what is there without any. */
  sortedRowBytes: 90,
  stagingBaseMb: 170,
  /** gp3 below 400 GiB, by AWS's documentation: 3,000 IOPS and 125 MB/s. */
  storageBytesPerS: 125 * 1_024 ** 2,
  /** Estimated: a row is written to its page, the doublewrite buffer, undo, redo, and the binary log. */
  writeFactor: 8,
  /** USD, Seoul, from memory, +-25 %: per GB-second on arm64, per transition, per 1,000 PUT. */
  gbSecondUsd: 0.0000133334,
  transitionUsd: 0.0000271,
  thousandPutsUsd: 0.0045,
} as const

/** Rows per second that the storage takes, over all lanes and jobs. */
export const STORAGE_ROWS_PER_S = ASSUMED.storageBytesPerS / (ASSUMED.writeFactor * ASSUMED.stagedRowBytes)

/** States of an undisturbed run outside its Maps, transitions into each; and those of one Map item. */
const PLAIN_STATES = 6 + 3 + 3 + 3
/** Of these, the Lambda tasks: the others are two Passes, a Choice, a Succeed and the two Maps. */
const PLAIN_TASKS = 9
const LIGHT_TASKS: readonly TaskName[] = ['AcquireLock', 'OpenJob', 'ReleaseLock', 'PublishEvents']
/** 5 events per task and 2 per other state, 4 per Map, and 7 per Map item: see test/infra/machine/history.test.ts. */
const PLAIN_EVENTS = 2 + PLAIN_TASKS * 5 + 4 * 2 + 2 * 4
const EVENTS_PER_ITEM = 7

const gb = (task: TaskName): number => TASKS[task].memoryMb / 1_024

/** A run that replaces `rows` rows by as many, undisturbed. */
export const runCost = (rows: number, lanes: number) => {
  const chunks = Math.ceil(rows / CHUNK_ROWS_MAX)
  const items = planItems(Array.from({ length: chunks }, (_, number) => number))
  const chunksPerItem = Math.max(...items.map(({ from, to }) => to - from + 1))
  const itemS = (chunksPerItem * CHUNK_ROWS_MAX) / ASSUMED.laneRowsPerS
  const phaseS = rows / Math.min(ASSUMED.laneRowsPerS * Math.min(lanes, items.length), STORAGE_ROWS_PER_S)
  const stageS = rows / ASSUMED.stageRowsPerS
  const scanS = rows / ASSUMED.scanRowsPerS
  const chunkGbS = (rows / ASSUMED.laneRowsPerS) * (gb('DeleteChunk') + gb('RegisterChunk'))
  const lightGbS = LIGHT_TASKS.length * ASSUMED.lightTaskS * gb('OpenJob')
  const scanGbS = 3 * scanS * gb('MarkRegistered')
  const gbSeconds = stageS * gb('StageSource') + chunkGbS + lightGbS + scanGbS
  const transitions = PLAIN_STATES + 2 * items.length
  const puts = chunks + 1
  return {
    rows,
    chunks,
    itemsPerPhase: items.length,
    chunksPerItem,
    transitions,
    events: PLAIN_EVENTS + 2 * items.length * EVENTS_PER_ITEM,
    requests: PLAIN_TASKS + 2 * items.length,
    gbSeconds,
    puts,
    stageS,
    itemS,
    runS: stageS + 2 * phaseS + 3 * scanS + LIGHT_TASKS.length * ASSUMED.lightTaskS,
    stagingMb: ASSUMED.stagingBaseMb + (rows * ASSUMED.sortedRowBytes) / 1_024 ** 2,
    usd:
      gbSeconds * ASSUMED.gbSecondUsd + transitions * ASSUMED.transitionUsd + (puts / 1_000) * ASSUMED.thousandPutsUsd,
  }
}

export type RunCost = Readonly<ReturnType<typeof runCost>>

/** How much of a limit the run takes; above 1 it does not fit. `turn` says what moves it. */
export type Use = { readonly limit: string; readonly share: number; readonly turn: string }

/** The limits a run meets, the tightest first. */
export const limitsOf = (cost: RunCost): Use[] => {
  const uses: Use[] = [
    {
      limit: `rows of one file (${count(SOURCE_ROWS_MAX)})`,
      share: cost.rows / SOURCE_ROWS_MAX,
      turn: 'SOURCE_ROWS_MAX, together with the memory and time of StageSource; or split the distributor',
    },
    {
      limit: `memory of StageSource (${count(TASKS.StageSource.memoryMb)} MB)`,
      share: cost.stagingMb / TASKS.StageSource.memoryMb,
      turn: "memoryMb of StageSource, up to Lambda's 10,240 MB; beyond it, sort in pieces",
    },
    {
      limit: `time of StageSource (${TASKS.StageSource.lambdaTimeoutS} s, Lambda's ceiling)`,
      share: cost.stageS / TASKS.StageSource.lambdaTimeoutS,
      turn: 'split the file by track over several staging tasks',
    },
    {
      limit: `bytes of one file (${SOURCE_BYTES_MAX / 1_024 ** 3} GiB)`,
      share: (cost.rows * ASSUMED.stagedRowBytes) / SOURCE_BYTES_MAX,
      turn: 'upload it in parts; the limit is that of one PutObject',
    },
    {
      limit: `history of an execution (${count(HISTORY_EVENTS_MAX)} events)`,
      share: cost.events / HISTORY_EVENTS_MAX,
      turn: 'MAP_ITEMS_MAX: it bounds the history for any number of rows',
    },
    {
      limit: `payload of a transition (${PAYLOAD_BYTES_MAX / 1_024} KiB)`,
      // An item is two numbers, about 25 bytes of JSON.
      share: (cost.itemsPerPhase * 25) / PAYLOAD_BYTES_MAX,
      turn: 'MAP_ITEMS_MAX',
    },
    {
      limit: `time of one Map item (${TASKS.DeleteChunk.lambdaTimeoutS} s)`,
      share: cost.itemS / TASKS.DeleteChunk.lambdaTimeoutS,
      turn: 'nothing: an item that runs out of time continues by itself; MAP_ITEMS_MAX makes items smaller',
    },
    {
      limit: `life of the lock (${LOCK_TTL_MS / 1_000} s) against one chunk`,
      share: (CHUNK_ROWS_MAX / ASSUMED.laneRowsPerS) * (1_000 / LOCK_TTL_MS),
      turn: 'CHUNK_ROWS_MAX',
    },
  ]
  return uses.toSorted((a, b) => b.share - a.share)
}

export const SIZES = [800_000, 10_000_000, 100_000_000] as const

/** USD a month without any run: production as in stages.ts. */
export const IDLE_USD: readonly (readonly [component: string, usd: number, turn: string])[] = [
  ['RDS, m7g.xlarge in two zones', 600, '`instanceType` (m7g.large: half, and 1 lane), `multiAz`'],
  ['its storage, 100 GiB gp3 in two zones', 26, '`storageGib`'],
  ['Valkey, two t4g.micro', 24, '`nodes`, `nodeType`'],
  ['interface endpoints, two in one zone', 19, 'an existing VPC that has them'],
  ['alarms, dashboard, key, logs, queues', 6, 'nothing worth turning'],
]
