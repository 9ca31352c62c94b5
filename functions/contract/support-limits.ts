import { EXECUTION_TIMEOUT_S } from './limits.ts'

/** The numbers of what works beside a run, each with its reason: outbox, dispatch, sweeper, and what operators are shown. */

// --- outbox -----------------------------------------------------------------------------------------------------

/**
 * An event that the topic refuses is set aside and tried again after this: anyone who fixes the cause need do no more.
 */
export const OUTBOX_ASIDE_S = 3_600

/**
 * Text of one field of an event, and of the topic's answer to it. With six bytes a character, eight of them have 96 KB.
 */
export const EVENT_TEXT_CHARS_MAX = 2_000
export const OUTBOX_ERROR_CHARS_MAX = 500

/** What one message of SNS may have, attributes included. */
export const EVENT_BYTES_MAX = 262_144

/** Refused events that the checks show, the oldest first. */
export const REFUSED_EVENTS_SHOWN = 20

/** Events one PublishEvents call sends at most. */
export const PUBLISH_EVENTS_MAX = 100

// --- starts -----------------------------------------------------------------------------------------------------

/** Executions one start may wait for by name: what runs on one slice at once is one, and a few that wait for it. */
export const AFTER_MAX = 10

// --- month and sweep --------------------------------------------------------------------------------------------

/** Active distributors of one dispatch: their starts travel through the dispatch machine, below 190 bytes each. */
export const DISTRIBUTORS_MAX = 1_000

/** Executions of one delivery on one head that end and open nothing before another dispatch starts none: two digits of a name. */
export const DISPATCH_TRIES_MAX = 99

/** A reason for not starting one, which travels there as well: a job, who requested it, and how it ended. */
export const REASON_CHARS_MAX = 140

/**
 * An open job without a lock that has made no progress for this long is halted by the sweeper, if nobody told it before
 * that the execution has ended. Two tasks of a run that is alive can be retried for more than five hours between two
 * marks (test/infra/watch/watch.test.ts adds it up), so only the end of the execution itself is a sure sign; and an hour for
 * a database whose clock jumps.
 */
export const SWEEP_QUIET_S = EXECUTION_TIMEOUT_S + 3_600

/** Quiet jobs that a sweep asks for at once. */
export const SWEEP_JOBS_MAX = 20

/** Overdue distributors that a sweep names, every few minutes; the rest are counted, and `sharelock list` shows all. */
export const OVERDUE_NAMED_MAX = 100

/** Kept free at the end of a sweep: halting may have to kill blockers, publishing may have to wait for the topic. */
export const SWEEP_RESERVE_MS = 60_000

// --- operators --------------------------------------------------------------------------------------------------

/**
 * How long an execution whose slice was unlocked opens no job: longer than an execution and its redrives (14 days),
 * shorter than the 90 days after which its name may be used again.
 */
export const UNLOCKED_DAYS = 30

/** Months one question about slices may span. */
export const SLICE_MONTHS_MAX = 24

/** Slices one answer may hold, at about 400 bytes each and less than 780: it stays below Lambda's 6 MB. */
export const SLICES_SHOWN_MAX = 8_000

/** Jobs of a slice that are shown in full, chunk maps included. */
export const SLICE_JOBS_SHOWN = 20

/** Lines of its audit trail that are shown with a slice. */
export const SLICE_AUDIT_SHOWN = 50

/** Open jobs that the checks show, the longest quiet ones first: a system with more has one trouble, not so many. */
export const OPEN_JOBS_SHOWN = 500

/** Versions of a profile that are listed: its history of years; an older one is still there by its number. */
export const PROFILE_VERSIONS_SHOWN = 50

/** A function says how much of its memory it has used from here on: below it nobody has to know, and each line costs. */
export const MEMORY_TOLD_PERCENT = 75
