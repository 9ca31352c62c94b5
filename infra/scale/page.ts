import { CHUNK_ROWS_MAX, MAP_ITEMS_MAX, SLICE_ROWS_PLANNED } from '../../functions/contract/limits.ts'
import { count } from '../../functions/contract/numbers.ts'
import { CONNECTIONS_SHARE_MAX, connectionBudget, dispatchLanes } from '../config/connections.ts'
import { stageConfig } from '../config/stages.ts'
import { ASSUMED, IDLE_USD, limitsOf, type RunCost, runCost, SIZES, STORAGE_ROWS_PER_S } from './scale.ts'

const TURN = 'what to turn'

const whole = (value: number): string => count(Math.round(value))
const seconds = (value: number): string => (value < 120 ? `${whole(value)} s` : `${whole(value / 60)} min`)
const percent = (share: number): string => `${(share * 100).toLocaleString('en', { maximumSignificantDigits: 3 })} %`

/** A table with numbers to the right. */
const table = (head: string[], rows: string[][]): string => {
  const rule = head.map((name, index) => (index === 0 || name === TURN ? '---' : '--:'))
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

const FIGURES: readonly (readonly [string, (cost: RunCost) => string])[] = [
  ['chunks, each way', ({ chunks }) => whole(chunks)],
  ['Map items, each way', ({ itemsPerPhase }) => whole(itemsPerPhase)],
  ['chunks of an item', ({ chunksPerItem }) => whole(chunksPerItem)],
  ['state transitions', ({ transitions }) => whole(transitions)],
  ['history events', ({ events }) => whole(events)],
  ['Lambda requests', ({ requests }) => whole(requests)],
  ['Lambda GB-seconds', ({ gbSeconds }) => whole(gbSeconds)],
  ['objects written', ({ puts }) => whole(puts)],
  ['staging', ({ stageS }) => seconds(stageS)],
  ['memory of staging', ({ stagingMb }) => `${whole(stagingMb)} MB`],
  ['whole run', ({ runS }) => seconds(runS)],
  ['cost of the run', ({ usd }) => `${usd.toFixed(3)} $`],
]

/** docs/scale.md, whole. */
export const scalePage = (): string => {
  const config = stageConfig('prod')
  if (config.kind === 'local') throw new Error('production is deployed')
  const { lanes, jobsMax, database } = config
  const costs = SIZES.map((rows) => runCost(rows, lanes))
  const planned = limitsOf(runCost(SLICE_ROWS_PLANNED, lanes))
  const largest = limitsOf(runCost(SIZES[SIZES.length - 1] ?? 0, lanes))
  const budget = connectionBudget({ lanes, jobsMax })
  const idle = IDLE_USD.reduce((sum, [, usd]) => sum + usd, 0)
  const millions = SIZES.map((rows) => `${rows / 1_000_000} million`)
  return `# Cost and scale on paper

Written by \`node bin/scale.ts\` from the constants that the code runs by (\`functions/contract/limits.ts\`, \`tasks.ts\`, \`infra/config/stages.ts\`) and the assumptions of \`infra/scale/scale.ts\`; a test compares. Nothing here was measured in AWS: the rates of a lane and of staging were measured on a machine with 2 cores and local disks, the prices are from memory and ±25 %.

## One run, by rows

Production's ${lanes} lanes, the slice full before and after, nothing goes wrong. A lane does ${whole(ASSUMED.laneRowsPerS)} rows/s, staging ${whole(ASSUMED.stageRowsPerS)}, and the storage takes ${whole(STORAGE_ROWS_PER_S)} over all lanes. Cold starts, up to three minutes after weeks of sleep, come on top.

${table(
  ['rows', ...millions],
  FIGURES.map(([name, of]) => [name, ...costs.map(of)]),
)}

A retry adds one request and three events; each attempt of a waiting run likewise.

## Which limit comes first

As shares of each limit, the tightest first.

At the largest slice that is planned for, ${whole(SLICE_ROWS_PLANNED)} rows:

${table(
  ['limit', 'taken', TURN],
  planned.map(({ limit, share, turn }) => [limit, percent(share), turn]),
)}

At ${millions[millions.length - 1]} rows ${largest.filter(({ share }) => share > 1).length} of them are passed, in this order: ${largest
    .filter(({ share }) => share > 1)
    .map(({ limit, share }) => `${limit}, ${percent(share)}`)
    .join(
      '; ',
    )}. History and payload are no limits at any size: a plan has at most ${MAP_ITEMS_MAX} items, and larger slices have larger ones.

## Connections

A sandbox keeps its connection while it is frozen, so a job counts one for each task it passed through, and ${lanes} each for deleting and registering. For ${jobsMax} jobs at once and two deployments that is ${budget}, ${percent(budget / database.maxConnections)} of \`max_connections\` = ${database.maxConnections}; synthesis stops above ${percent(CONNECTIONS_SHARE_MAX)}. Reserved concurrency makes the budget a limit. To turn: \`lanes\`, \`jobsMax\`, \`maxConnections\`. The schedule runs ${dispatchLanes(config)} jobs at once and leaves ${jobsMax - dispatchLanes(config)} to operators; the rest of a month queues until one of them has ended. Operators who start more than that are throttled, and retried for minutes.

## The database

A chunk of ${whole(CHUNK_ROWS_MAX)} rows is one transaction. A row is written to its page, the doublewrite buffer, undo, redo and the binary log, estimated at ${ASSUMED.writeFactor} x ${ASSUMED.stagedRowBytes} bytes each way. gp3 below 400 GiB gives 3,000 IOPS and 125 MB/s, so ${whole(STORAGE_ROWS_PER_S)} rows/s for all jobs together, as many as ${(STORAGE_ROWS_PER_S / ASSUMED.laneRowsPerS).toFixed(1)} lanes do: one job's ${lanes} lanes stay below it, two jobs at once meet it. To turn: \`storageGib\` of 400 or more gives four times as much.

## Idle, a month

${table(
  ['component', 'USD', TURN],
  IDLE_USD.map(([component, usd, turn]) => [component, `~${usd}`, turn]),
)}

Together about ${idle} $. Runs add cents.
`
}
