import { createHash } from 'node:crypto'
import { z } from 'zod'
import { DistributorCode, Month } from '../../functions/contract/messages.ts'
import { count } from '../../functions/contract/numbers.ts'
import { quoted } from '../../functions/contract/visible.ts'
import { WARNING_NAMES } from '../../functions/contract/warnings.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import { JOB_STATES, sliceName } from '../../functions/contract/words.ts'
import { putObject, readObject } from '../../functions/store/s3/objects.ts'
import type { Clients } from './clients.ts'
import { calling } from './failures.ts'
import { sizeOf } from './objects.ts'
import { OperationError } from './operation-error.ts'
import { planStart } from './plan.ts'
import type { ReadingOptions } from './read-apart.ts'
import type { StartPlan } from './start-plan.ts'
import { upload } from './upload.ts'

/** What a plan promises, as it is kept: everything that a start of it compares with what it finds. */
const KeptPlan = z.strictObject({
  version: z.literal(1),
  distributor: DistributorCode,
  month: Month,
  source: z.union([z.strictObject({ key: z.string() }), z.strictObject({ staged: z.string() })]),
  digest: z.string(),
  head: z.strictObject({ job: z.int(), fence: z.int(), state: z.enum(JOB_STATES) }).nullable(),
  against: z.int().nullable(),
  delete: z.int(),
  register: z.int(),
  added: z.int(),
  removed: z.int(),
  changed: z.int(),
  unchanged: z.int(),
  warnings: z.array(z.enum(WARNING_NAMES)),
  plannedBy: z.string(),
  plannedAt: z.string(),
})
type KeptPlan = z.infer<typeof KeptPlan>

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** `ARIA-2026-10-3f2a9c01d4e5b678`: the slice, and the first digits of the digest of what is kept. */
const ID = /^([0-9A-Za-z_-]{1,32})-(\d{4}-\d{2})-([0-9a-f]{16})$/

const keyOf = ({ distributor, month }: SliceName, digits: string): string =>
  `incoming/operators/${distributor}/${month}/plans/${digits}.json`

const promised = (
  plan: StartPlan,
  digest: string,
): Omit<KeptPlan, 'version' | 'source' | 'plannedBy' | 'plannedAt'> => {
  const { distributor, month, head, difference, warnings, rowsToDelete, rowsToRegister } = plan
  const { added, removed, changed, unchanged, against } = difference
  return {
    ...{ distributor, month, digest, head, against: against?.job ?? null },
    ...{ delete: rowsToDelete, register: rowsToRegister, added, removed, changed, unchanged },
    warnings: warnings.map(({ name }) => name),
  }
}

/**
 * Keeps a plan in the bucket, and the file of this machine that it is of, both at addresses made of their content. So
 * the plan can be started elsewhere, and no other than was shown.
 * See decisions.md, "A plan is kept by its content".
 *
 * @returns its ID
 */
export const keepPlan = async (clients: Clients, plan: StartPlan): Promise<string> => {
  const { source, uploadKey, validation } = plan
  if (validation.summary === null)
    throw new OperationError('Rejected', 'The file was refused: there is nothing to start.')
  if ('path' in source && uploadKey !== null) await upload(clients, source.path, uploadKey)
  const kept: KeptPlan = {
    version: 1,
    ...promised(plan, validation.summary.digest),
    source: 'path' in source ? { key: uploadKey ?? '' } : source,
    plannedBy: await clients.identity(),
    plannedAt: new Date().toISOString(),
  }
  const text = JSON.stringify(kept)
  const digits = sha256(text).slice(0, 16)
  const { bucket } = await clients.deployment()
  await calling('S3', () => putObject(clients.s3, bucket, keyOf(plan, digits), text, 'application/json'))
  return `${plan.distributor}-${plan.month}-${digits}`
}

const readPlan = async (clients: Clients, id: string): Promise<KeptPlan> => {
  const [, distributor = '', month = '', digits = ''] = ID.exec(id) ?? []
  if (digits === '')
    throw new OperationError('Usage', `${quoted(id)} is not the ID of a plan, which \`sharelock plan\` prints.`)
  const key = keyOf({ distributor, month }, digits)
  const { bucket } = await clients.deployment()
  if ((await sizeOf(clients, key)) === null)
    throw new OperationError('NotFound', `There is no plan ${id}: make a new one with \`sharelock plan\`.`)
  const text = (await calling('S3', () => readObject(clients.s3, bucket, key))).toString()
  if (!sha256(text).startsWith(digits))
    throw new OperationError(
      'PlanMoved',
      `The plan ${id} was changed after it was made. Nothing was started; make a new one.`,
    )
  return KeptPlan.parse(JSON.parse(text))
}

const NUMBERS = {
  delete: 'rows to delete',
  register: 'rows to register',
  added: 'rows added',
  removed: 'rows removed',
  changed: 'rows changed',
  unchanged: 'rows unchanged',
} as const

const headText = (head: KeptPlan['head']): string =>
  head === null ? 'none' : `job ${head.job} (${head.state}, fence ${head.fence})`

/** What is not as it was planned, each as a sentence's part. */
const movesBetween = (then: KeptPlan, plan: StartPlan): string[] => {
  const now = promised(plan, plan.validation.summary?.digest ?? 'none')
  const moved = (what: string, was: string, is: string): string[] =>
    was === is ? [] : [`${what}: ${was} when it was planned, ${is} now`]
  return [
    ...moved("the file's staged source", then.digest, now.digest),
    ...moved('the newest job', headText(then.head), headText(now.head)),
    ...moved('compared with job', String(then.against ?? 'none'), String(now.against ?? 'none')),
    ...Object.entries(NUMBERS).flatMap(([name, what]) =>
      moved(what, count(then[name as keyof typeof NUMBERS]), count(now[name as keyof typeof NUMBERS])),
    ),
    ...moved('warnings', then.warnings.join(', ') || 'none', now.warnings.join(', ') || 'none'),
  ]
}

/**
 * Looks again at what a kept plan promises: reads its file by the rules of today, and compares it with the slice.
 *
 * @throws OperationError PlanMoved, naming everything that moved; NotFound
 */
export const keptPlan = async (clients: Clients, id: string, options: Partial<ReadingOptions>): Promise<StartPlan> => {
  const kept = await readPlan(clients, id)
  const { distributor, month, source } = kept
  const plan = await planStart(clients, { distributor, month }, source, false, options)
  const moves = movesBetween(kept, plan)
  if (moves.length === 0) return plan
  throw new OperationError(
    'PlanMoved',
    `${sliceName(plan)} is not as it was when ${id} was planned at ${kept.plannedAt}. ${moves.join('; ')}. Nothing was started; look at a new plan.`,
  )
}
