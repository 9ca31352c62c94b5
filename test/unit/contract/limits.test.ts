import { describe, expect, test } from 'vitest'
import * as limits from '../../../functions/contract/limits.ts'
import * as source from '../../../functions/contract/source-limits.ts'
import * as support from '../../../functions/contract/support-limits.ts'
import { SUPPORT, TASKS } from '../../../functions/contract/tasks.ts'

/** What must stay true between the numbers, even if somebody changes one of them. */
describe('the numbers fit each other', () => {
  const lockCallMs = limits.LOCK_CONNECT_TIMEOUT_MS + limits.LOCK_COMMAND_TIMEOUT_MS
  const statementMs = limits.DATABASE_CONNECT_TIMEOUT_MS + limits.STATEMENT_TIMEOUT_MS

  test('a silent Valkey and then a silent MySQL fail before any Lambda is cut off', () => {
    for (const task of Object.values(TASKS)) expect(lockCallMs).toBeLessThan((task.lambdaTimeoutS * 1_000) / 2)
  })

  test('a chunk loop keeps time for a lock call, a slow statement, and the answer', () => {
    expect(limits.CHUNK_RESERVE_MS).toBeGreaterThan(lockCallMs + statementMs + limits.ANSWER_RESERVE_MS)
  })

  test('one S3 request has time for all of its attempts, and one event for an attempt', () => {
    const attemptsMs = limits.AWS_ATTEMPTS_MAX * limits.AWS_REQUEST_TIMEOUT_MS
    expect(limits.AWS_CALL_TIMEOUT_MS).toBeGreaterThanOrEqual(attemptsMs + 1_000)
    expect(limits.TOPIC_CALL_TIMEOUT_MS).toBeGreaterThan(limits.TOPIC_REQUEST_TIMEOUT_MS)
  })

  test('a chunk loop that waited for S3 as long as it may still does a chunk', () => {
    const objectMs = limits.AWS_CALL_TIMEOUT_MS + limits.OBJECT_TRANSFER_MS
    expect(TASKS.RegisterChunk.lambdaTimeoutS * 1_000).toBeGreaterThan(objectMs + 2 * limits.CHUNK_RESERVE_MS)
    // Meanwhile nothing extends the lock.
    expect(limits.LOCK_TTL_MS).toBeGreaterThan(2 * (objectMs + limits.CHUNK_RESERVE_MS))
  })

  test('the answer has time behind the last thing that is tried, and a task has time before it', () => {
    expect(limits.ANSWER_RESERVE_MS).toBeGreaterThanOrEqual(limits.KILL_RESERVE_MS + 1_000)
    for (const task of Object.values({ ...TASKS, ...SUPPORT }))
      expect(task.lambdaTimeoutS * 1_000).toBeGreaterThan(limits.ANSWER_RESERVE_MS + lockCallMs + statementMs / 2)
  })

  test('a silent topic costs seconds of its run, and never the task', () => {
    const publishMs = limits.PUBLISH_BUDGET_MS + limits.TOPIC_CALL_TIMEOUT_MS
    expect(publishMs).toBeLessThanOrEqual(20_000)
    expect(publishMs + statementMs + limits.ANSWER_RESERVE_MS).toBeLessThan(TASKS.PublishEvents.lambdaTimeoutS * 1_000)
    expect(publishMs).toBeLessThan(support.SWEEP_RESERVE_MS)
  })

  test('a chunk task does work before it stops for time', () => {
    for (const task of [TASKS.DeleteChunk, TASKS.RegisterChunk])
      expect(task.lambdaTimeoutS * 1_000).toBeGreaterThan(2 * limits.CHUNK_RESERVE_MS)
  })

  test('the lock outlives the longest guarded task, which extends it only once', () => {
    const longest = Math.max(
      TASKS.PlanDelete.lambdaTimeoutS,
      TASKS.MarkDeleted.lambdaTimeoutS,
      TASKS.MarkRegistered.lambdaTimeoutS,
    )
    expect(limits.LOCK_TTL_MS).toBeGreaterThan((longest + limits.TASK_MARGIN_S) * 1_000)
  })

  test('the lock outlives a slow chunk many times', () => {
    expect(limits.LOCK_TTL_MS).toBeGreaterThan(5 * (lockCallMs + statementMs))
  })

  test('a scan of a whole slice ends within its task', () => {
    expect(limits.SCAN_TIMEOUT_MS).toBeLessThan(TASKS.MarkRegistered.lambdaTimeoutS * 1_000)
    expect(limits.SCAN_TIMEOUT_MS).toBeLessThan(TASKS.MarkDeleted.lambdaTimeoutS * 1_000)
    expect(limits.SCAN_TIMEOUT_MS + limits.ANSWER_RESERVE_MS).toBeLessThan(SUPPORT.Inspect.lambdaTimeoutS * 1_000)
  })

  test('who keeps others waiting is killed before they give up, one after another in a raise', () => {
    expect(limits.LOCK_PATIENCE_S).toBeLessThan(limits.LOCK_WAIT_TIMEOUT_S)
    expect(4 * limits.FENCE_PATIENCE_S).toBeLessThan(limits.LOCK_WAIT_TIMEOUT_S)
    expect(limits.LOCK_WAIT_TIMEOUT_S * 1_000).toBeLessThan(limits.STATEMENT_TIMEOUT_MS)
  })

  test('who waits for a stranger says so within half a minute, and a task that halts or stops has time for it', () => {
    const blockedMs = limits.BLOCKED_TRIES_MAX * (limits.LOCK_WAIT_TIMEOUT_S * 1_000 + 1_000)
    expect(blockedMs).toBeLessThan(30_000)
    for (const task of [TASKS.HaltJob, SUPPORT.Operate])
      expect(task.lambdaTimeoutS * 1_000).toBeGreaterThan(2 * blockedMs)
  })

  test('a raise gives a chunk in flight more time than a chunk takes', () => {
    expect(limits.FENCE_PATIENCE_S).toBeGreaterThanOrEqual(2)
  })

  test('an event fits into one message, whatever its texts are', () => {
    const [texts, bytesPerCharMax] = [8, 6]
    expect(texts * bytesPerCharMax * support.EVENT_TEXT_CHARS_MAX).toBeLessThan(support.EVENT_BYTES_MAX / 2)
  })

  test('a track fits into a chunk', () => {
    expect(limits.TRACK_ROWS_MAX).toBeLessThanOrEqual(limits.CHUNK_ROWS_MAX)
  })

  test('an execution outlasts several waits for a held lock, and a file may be as large as one upload', () => {
    expect(limits.EXECUTION_TIMEOUT_S * 1_000).toBeGreaterThan(10 * limits.LOCK_TTL_MS)
    expect(source.SOURCE_BYTES_MAX).toBe(5_368_709_120)
  })

  test('no structure of the stage comes to a limit of the language before a limit of ours', () => {
    // A Map throws a RangeError at 2^24 entries; row numbers and lines are kept in 32 bits.
    expect(source.DISTINCT_VALUES_MAX).toBeLessThan(2 ** 23)
    const blank = source.BLANK_LINES_FREE + source.BLANK_LINES_PER_RECORD * source.SOURCE_ROWS_MAX
    expect(source.SOURCE_ROWS_MAX + blank).toBeLessThan(2 ** 32)
  })

  test('a bomb is refused early, and errors are shown before their count ends', () => {
    // gzip can do 1,032: the limit is below it, and far above what CSV of shares comes to.
    expect(source.EXPANSION_MAX).toBeLessThan(1_032 / 2)
    expect(source.EXPANSION_FREE_BYTES).toBeLessThan(source.SOURCE_BYTES_MAX / 10)
    expect(source.REJECT_ERRORS_MAX).toBeLessThan(source.ERRORS_COUNTED_MAX)
  })

  test('an ordinary month is read in every form, however it was packed, and a workbook is held in memory', () => {
    const monthBytes = 800_000 * 60
    expect(source.EXPANSION_FREE_BYTES).toBeGreaterThan(monthBytes)
    expect(source.ZIP_BYTES_MAX).toBeGreaterThan(monthBytes)
    expect(source.SHEET_CELLS_MAX).toBe((source.SHEET_ROWS_END - 1) * 16)
    expect(source.SHEET_BYTES_MAX).toBeGreaterThan((source.SHEET_ROWS_END - 1) * 400)
    expect(source.SHARED_STRINGS_MAX).toBe((source.SHEET_ROWS_END - 1) * 4)
    expect(source.SHARED_STRINGS_BYTES_MAX).toBe(source.SHARED_STRINGS_MAX * 24)
    expect(source.SHEET_PART_BYTES_MAX).toBeGreaterThan(1_024 ** 2)
    // The archive, its largest part beside the sheet, and the texts; the sheet itself is a stream.
    const held = source.ZIP_BYTES_MAX + source.SHEET_PART_BYTES_MAX + source.SHARED_STRINGS_BYTES_MAX
    expect(held).toBeLessThan((TASKS.StageSource.memoryMb * 1_024 ** 2) / 2)
  })

  test('a file has as many rows as the memory takes, and never more than the stage can number', () => {
    // 512 MB of the first gigabyte are there before any row, and a row takes 150 bytes.
    expect(source.sourceRowsMax(1_024)).toBe(Math.floor((512 * 1_024 ** 2) / 150))
    expect(source.sourceRowsMax(1_000_000)).toBe(source.SOURCE_ROWS_MAX)
    expect(source.FRACTION_SUM_MAX_UNITS / (source.SHARE_SUM_MAX_UNITS / 100)).toBeCloseTo(1.02)
  })

  test("every Lambda ends within AWS's 15 minutes", () => {
    for (const task of Object.values({ ...TASKS, ...SUPPORT })) expect(task.lambdaTimeoutS).toBeLessThanOrEqual(900)
  })
})
