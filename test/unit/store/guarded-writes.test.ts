import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/*
 * What keeps a write inside a guarded transaction is the type of the handle, so the compiler itself is asked: each line
 * here is compiled with the project's own options, and the compiler has to refuse exactly those of the second list.
 */
const ROOT = join(import.meta.dirname, '..', '..', '..')

const GIVEN = `
import type { ManifestChunk } from '../../functions/contract/manifest.ts'
import type { Slice } from '../../functions/contract/words.ts'
import type { TaskContext } from '../../functions/job/task.ts'
import { hideSet, showSet } from '../../functions/store/active-set.ts'
import { writeAudit } from '../../functions/store/audit.ts'
import { markEnded, mayOpen } from '../../functions/store/job/execution.ts'
import { closeJob, insertJob, markHalted, markWithdrawn, type JobOpener, type Placement, takeOverJob } from '../../functions/store/job/fence.ts'
import { type Acquisition, type ExclusiveTx, type GuardedTx, guardExclusive, guardShared } from '../../functions/store/job/guard.ts'
import { exclusively, type HeldJob } from '../../functions/store/job/held.ts'
import { type DeleteRange, insertRegisterPlan, type LedgerChunk, markChunk, recordRows, replaceDeletePlan } from '../../functions/store/job/ledger.ts'
import { countDeletePlan, markState } from '../../functions/store/job/mark-state.ts'
import { markPublished, writeEvent } from '../../functions/store/job/outbox.ts'
import { type JobRow, readJob } from '../../functions/store/job/row.ts'
import type { Database } from '../../functions/store/mysql/database.ts'
import { reading, repeatable, statement, transaction } from '../../functions/store/mysql/transaction.ts'
import type { Reader, Tx } from '../../functions/store/mysql/tx.ts'
import { deleteRange, loadChunk } from '../../functions/store/share-ratio.ts'
declare const context: TaskContext, raw: Database, tx: Tx, held: HeldJob, by: Acquisition, slice: Slice, job: JobRow
declare const chunk: LedgerChunk, ranges: DeleteRange[], chunks: ManifestChunk[], body: Buffer, opening: JobOpener, place: Placement
declare const deleting: GuardedTx<'DELETING'>, deleted: GuardedTx<'DELETED'>, registering: GuardedTx<'REGISTERING'>
declare const either: GuardedTx<'DELETING' | 'REGISTERING'>, heldEither: ExclusiveTx<'DELETING' | 'DELETED'>
declare const heldDeleting: ExclusiveTx<'DELETING'>, heldDeleted: ExclusiveTx<'DELETED'>, heldRegistering: ExclusiveTx<'REGISTERING'>
`

const COMPILES = [
  `transaction(context.database, async (t) => deleteRange(await guardShared(t, by, 'DELETING'), chunk))`,
  `transaction(context.database, async (t) => loadChunk(await guardShared(t, by, 'REGISTERING'), body))`,
  `exclusively(context.database, 1, async (h) => markState(await guardExclusive(h, by, 'DELETED'), 'REGISTERING'))`,
  `exclusively(context.database, 1, async (h) => { const g = await guardExclusive(h, by, 'DELETING', 'DELETED'); if (g.state === 'DELETING') await markState(g, 'DELETED') })`,
  `markChunk(deleting, 0); markChunk(registering, 0); markChunk(either, 0); recordRows(deleting, 0, 1)`,
  `replaceDeletePlan(heldDeleting, ranges); countDeletePlan(heldDeleting); insertRegisterPlan(heldDeleted, chunks)`,
  `deleteRange(heldDeleting, chunk); loadChunk(heldRegistering, body)`,
  `transaction(context.database, (t) => writeEvent(t, 1, 'JobHalted', {})); writeEvent(deleting, 1, 'JobHalted', {})`,
  `statement(context.database, (reader) => readJob(reader, 1)); reading(context.database, (reader) => readJob(reader, 1))`,
  `repeatable(context.database, (one) => markPublished(one, 1))`,
  // What readers see: shown by a job that holds its row, and hidden or withdrawn in a transaction.
  `showSet(heldRegistering); showSet(heldDeleting); markState(heldDeleting, 'REGISTERED')`,
  `hideSet(tx, slice); markWithdrawn(tx, job); insertJob(tx, slice, undefined, opening, place)`,
]

const REFUSED = [
  // Rows of a month, outside a transaction or without a guard.
  `deleteRange(context.database, chunk)`,
  `deleteRange(raw, chunk)`,
  `deleteRange(tx, chunk)`,
  `deleteRange(held, chunk)`,
  `loadChunk(context.database, body)`,
  `loadChunk(raw, body)`,
  `loadChunk(tx, body)`,
  `statement(context.database, (reader) => loadChunk(reader, body))`,
  `repeatable(context.database, (one) => deleteRange(one, chunk))`,
  // In the wrong state, or in one that is not known.
  `deleteRange(registering, chunk)`,
  `deleteRange(deleted, chunk)`,
  `deleteRange(either, chunk)`,
  `loadChunk(deleting, body)`,
  `loadChunk(deleted, body)`,
  `loadChunk(either, body)`,
  `transaction(context.database, async (t) => loadChunk(await guardShared(t, by, 'DELETING'), body))`,
  // The ledger.
  `markChunk(tx, 0)`,
  `markChunk(deleted, 0)`,
  `recordRows(registering, 0, 1)`,
  `replaceDeletePlan(held, ranges)`,
  `replaceDeletePlan(deleting, ranges)`,
  `replaceDeletePlan(heldDeleted, ranges)`,
  `insertRegisterPlan(deleted, chunks)`,
  `insertRegisterPlan(heldRegistering, chunks)`,
  // The state: one step, with the row held exclusively.
  `markState(deleting, 'DELETED')`,
  `markState(held, 'DELETED')`,
  `markState(heldDeleting, 'REGISTERING')`,
  `markState(heldDeleted, 'REGISTERED')`,
  `markState(heldDeleted, 'DELETED')`,
  `markState(heldRegistering, 'REGISTERING')`,
  `markState(heldEither, 'DELETED')`,
  `countDeletePlan(deleting)`,
  `countDeletePlan(heldDeleted)`,
  `guardExclusive(tx, by, 'DELETING')`,
  `guardShared(raw, by, 'DELETING')`,
  // What is written together with something else.
  `writeEvent(context.database, 1, 'JobHalted', {})`,
  `writeEvent(raw, 1, 'JobHalted', {})`,
  `writeAudit(raw, { caller: '', action: 'stop', distributor: '', why: '', detail: {} })`,
  `insertJob(raw, slice, undefined, opening, place)`,
  `markWithdrawn(raw, job)`,
  `showSet(held)`,
  `showSet(heldDeleted)`,
  `hideSet(raw, slice)`,
  `takeOverJob(raw, job, opening)`,
  `closeJob(raw, job)`,
  `markHalted(raw, job, '', '')`,
  `mayOpen(raw, '', { startedMs: 0, redrives: 0 })`,
  `markEnded(raw, '', { startedMs: 0, redrives: 0 })`,
  `repeatable(context.database, (one) => closeJob(one, job))`,
  // Anything at all, on what a task has.
  `context.database.rows('select 1')`,
  `context.database.change('delete from share_ratio')`,
  `context.database.begin()`,
  `statement(context.database, (reader) => reader.change('delete from share_ratio'))`,
  `reading(context.database, (reader) => reader.change('delete from share_ratio'))`,
  // A handle that somebody made up.
  `const forged: GuardedTx<'DELETING'> = { by, state: 'DELETING', rows: tx.rows, change: tx.change, load: tx.load }`,
  `const made: Tx = { rows: raw.rows, change: raw.change, load: raw.load }`,
  `const widened: GuardedTx<'DELETING'> = registering`,
]

/** The lines of `code` that the compiler refuses, from 1 on. */
const refusedLines = (code: string): number[] => {
  mkdirSync(join(ROOT, '.local'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.local', 'compiled-'))
  try {
    writeFileSync(join(folder, 'lines.ts'), code)
    // Imports and constants that a line of the list does not use are no fault.
    const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false }
    const config = { extends: '../../tsconfig.json', compilerOptions, include: ['lines.ts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const compiler = join(ROOT, 'node_modules', '.bin', 'tsc')
    const { stdout, error } = spawnSync(compiler, ['-p', folder, '--pretty', 'false'], { encoding: 'utf8' })
    if (error !== undefined) throw error
    const faults = stdout.split('\n').filter((line) => /^\S.*: error TS/.test(line))
    const elsewhere = faults.filter((line) => !line.includes('lines.ts('))
    if (elsewhere.length > 0) throw new Error(elsewhere.join('\n'))
    return [...new Set(faults.map((line) => Number(/lines\.ts\((\d+)/.exec(line)?.[1])))]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('a write outside a guarded transaction, or in the wrong state, does not compile', () => {
  const lines = [...COMPILES, ...REFUSED]
  const given = GIVEN.split('\n')
  const refused = refusedLines([...given, ...lines].join('\n')).map((number) => lines[number - given.length - 1])
  expect(refused).toEqual(REFUSED)
})

/** The product's files that have `pattern` in their text. */
const filesWith = (pattern: RegExp): string[] =>
  readdirSync(join(ROOT, 'functions'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && pattern.test(readFileSync(join(ROOT, 'functions', file), 'utf8')))
    .sort()

test('rows of a month, the ledger and jobs are changed by the files that hold their writers alone', () => {
  const changing = (table: string) =>
    filesWith(new RegExp(`(insert into|into table|update|delete from|replace into|truncate( table)?) ${table}\\b`))
  expect(changing('share_ratio')).toEqual(['store/share-ratio.ts'])
  expect(changing('job_chunk')).toEqual(['store/job/ledger.ts'])
  expect(changing('job')).toEqual(['store/job/fence.ts', 'store/job/mark-state.ts'])
})

test('only transactions and statements reach what a database can do by itself', () => {
  expect(filesWith(/\bRAW\b/)).toEqual(['store/mysql/database.ts', 'store/mysql/transaction.ts'])
  expect(filesWith(/new Database\(/)).toEqual(['job/prepare-database.ts', 'job/services.ts'])
})
