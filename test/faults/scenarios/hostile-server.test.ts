import { expect, test } from 'vitest'
import { createAppUser } from '../../../functions/store/schema/app-user.ts'
import { migrate } from '../../../functions/store/schema/migrate.ts'
import { holdTask, within } from '../../support/faults.ts'
import { expectSettled, jobsOf } from '../../support/invariants.ts'
import { KIM, operatorFunctions } from '../../support/operator-functions.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'

/*
 * A server that other programs share has settings of its own. These are as bad as they come; every new session inherits
 * them, and nothing that we do may change.
 */
const HOSTILE: Readonly<Record<string, string | number>> = {
  autocommit: 0,
  completion_type: 'RELEASE',
  transaction_isolation: 'SERIALIZABLE',
  sql_mode: 'ANSI,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,NO_UNSIGNED_SUBTRACTION,TIME_TRUNCATE_FRACTIONAL',
  max_execution_time: 20,
  sql_select_limit: 1,
  max_join_size: 1,
  sql_safe_updates: 1,
  cte_max_recursion_depth: 1,
  range_optimizer_max_mem_size: 1,
  lock_wait_timeout: 1,
  innodb_lock_wait_timeout: 1,
  net_read_timeout: 1,
  net_write_timeout: 1,
  wait_timeout: 1,
  time_zone: '+09:00',
  div_precision_increment: 0,
  group_concat_max_len: 4,
  max_sort_length: 4,
  max_error_count: 0,
  sql_notes: 0,
  character_set_server: 'latin1',
  character_set_client: 'latin1',
  character_set_connection: 'latin1',
  character_set_results: 'latin1',
  collation_server: 'latin1_swedish_ci',
  auto_increment_increment: 7,
  auto_increment_offset: 3,
  tmp_table_size: 1_024,
  max_heap_table_size: 16_384,
  sort_buffer_size: 32_768,
  join_buffer_size: 128,
  parser_max_mem_size: 10_000_000,
  connection_memory_limit: 2_097_152,
  global_connection_memory_tracking: 1,
  big_tables: 1,
  sql_buffer_result: 1,
  optimizer_search_depth: 1,
  max_seeks_for_key: 1,
  eq_range_index_dive_limit: 1,
  lc_time_names: 'ko_KR',
  session_track_gtids: 'ALL_GTIDS',
  session_track_state_change: 1,
  session_track_transaction_info: 'CHARACTERISTICS',
  session_track_system_variables: '*',
  default_storage_engine: 'MyISAM',
  explicit_defaults_for_timestamp: 0,
  updatable_views_with_limit: 'NO',
  init_connect:
    'set autocommit = 0, unique_checks = 0, foreign_key_checks = 0, sql_auto_is_null = 1, sql_big_selects = 0',
}

const on = useStack({ own: ['mysql'], mysql: { bufferPool: '128M', redoLog: '128M' } })

const reset = async (): Promise<void> => {
  for (const name of Object.keys(HOSTILE)) await on().outside.query(`set global ${name} = default`)
}

/** Runs `work` while new sessions inherit the worst. Our own eyes look before and after. */
const underHostility = async <T>(work: () => Promise<T>): Promise<T> => {
  for (const [name, value] of Object.entries(HOSTILE)) await on().outside.query(`set global ${name} = ?`, [value])
  // Sandboxes that live already have sessions with the old values: they connect anew.
  await on().stack.lambda.settled()
  const sessions = await on().rows<{ id: number }>('select id from information_schema.processlist where user = ?', [
    on().stack.database.app.user,
  ])
  for (const { id } of sessions)
    await on()
      .outside.query('kill ?', [id])
      .catch(() => undefined)
  try {
    return await work()
  } finally {
    await reset()
  }
}

const OLD = shareFile(150, 91)
const NEW = shareFile(30_000, 92)

test('a month is registered, replaced and taken back', async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const [first, second, undo] = await underHostility(async () => [
    await on().run({ ...slice, source: await on().upload(NEW) }),
    await on().run({ ...slice, source: await on().upload(OLD) }),
    await on().run({ ...slice, source: { undo: true } }),
  ])
  for (const end of [first, second, undo]) expect(end).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, NEW)
})

test('operators read, add, change and stop, with Hangul in names and reasons', async () => {
  const kim = operatorFunctions(on())
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const source = await on().upload(NEW)
  const why = '파일이 잘못됨'
  const code = `K${process.pid}`
  const seen = await underHostility(async () => {
    const fields = {
      code,
      name: '멜론 뮤직 😀',
      active: true,
      sumRule: 'exact',
      partyScheme: 'ipi',
      replaceMode: 'standby',
    } as const
    await kim.act({ action: 'put-distributor', ...KIM, mode: 'add', distributor: fields })
    await kim.act({ action: 'put-distributor', ...KIM, mode: 'set', distributor: { ...fields, name: '지니 뮤직' } })
    const held = holdTask(on(), 'RegisterChunk', slice)
    const arn = await on().start({ ...slice, source })
    await within(on(), arn, held.reached)
    const [job] = await jobsOf(on(), slice)
    const stopped = await kim.act({ action: 'stop', ...KIM, why, job: job?.id ?? 0 })
    held.release()
    await on().ended(arn)
    return {
      stopped,
      distributors: await kim.ask({ question: 'distributors' }),
      audit: await kim.ask({ question: 'audit', ...slice }),
      slices: await kim.ask({ question: 'slices', from: slice.month, to: slice.month }),
      checks: await kim.ask({ question: 'checks', from: slice.month, to: slice.month }),
      rows: await kim.ask({ question: 'rows', ...slice }),
    }
  })
  kim.close()
  expect(seen.stopped).toMatchObject({ halted: true })
  expect(seen.distributors).toContainEqual(expect.objectContaining({ code, name: '지니 뮤직' }))
  expect(seen.audit).toMatchObject([{ action: 'stop', why }])
  expect(seen.slices.length).toBeGreaterThan(1)
  expect(seen.checks.openJobs).toMatchObject([{ distributor: slice.distributor }])
  const [job] = await jobsOf(on(), slice)
  expect(job?.halt_cause).toContain(why)
})

test('a database is migrated, its user made, and its text is UTF-8 in every table', async () => {
  const address = { ...on().stack.database.masterAddress, DATABASE_NAME: 'hostile' }
  const { applied } = await underHostility(async () => {
    const report = await migrate(address)
    await createAppUser(address, { name: 'hostile', auth: 'password', password: 'secret' })
    return report
  })
  expect(applied.length).toBeGreaterThan(3)
  const rows = await on().rows<{ name: string; engine: string; collation: string }>(
    `select table_name as name, engine as engine, table_collation as collation from information_schema.tables
     where table_schema = 'hostile' and table_type = 'BASE TABLE'`,
  )
  for (const { engine, collation } of rows) {
    expect(engine).toBe('InnoDB')
    expect(collation).toMatch(/^utf8mb4_/)
  }
})
