/**
 * The numbers of the operator's side, each with its reason. Those of the system are in functions/contract/limits.ts.
 */

/**
 * A look at a run costs three calls; people don't read faster. SHARELOCK_POLL_MS sets another, e.g. on a local stack.
 */
export const POLL_MS = 1_500

/** Looks that may fail one after another before watching gives up: with growing pauses, about five minutes. */
export const LOOKS_FAILED_MAX = 14
export const LOOK_PAUSE_MAX_MS = 30_000

/** Newest events of a history that are read to learn the current state: lanes write at most a few between two looks. */
export const HISTORY_EVENTS_SEEN = 25

/** Running executions that are listed: a dispatch starts at most DISTRIBUTORS_MAX, and so many pages are ten calls. */
export const RUNNING_LISTED_MAX = 1_000

/** Running executions under foreign names that are described to learn their slice; those under our names come first. */
export const RUNNING_DESCRIBED_MAX = 100

/** Run numbers of one source in one month; anyone who needs more has another problem. Each costs one call to find. */
export const RUN_NUMBERS_MAX = 200

/** A file is checked in a thread of its own for no longer than this: StageSource's Lambda has no more time for it. */
export const READING_MAX_MS = 15 * 60_000

/**
 * What such a thread may keep beside the rows, which have 32 bytes each: different ids, DISTINCT_VALUES_MAX of both
 * kinds.
 */
export const READER_HEAP_MB = 4_096

/** Files that one console checks at a time; the next ones wait. Each takes a core and up to some gigabytes. */
export const READINGS_AT_ONCE = 2

/** What one PutObject takes. */
export const UPLOAD_BYTES_MAX = 5 * 1_024 ** 3

/** A rejected upload or a lost reply is repeated by the SDK; this is its number of attempts in all. */
export const CALL_ATTEMPTS_MAX = 5
export const CONNECT_TIMEOUT_MS = 5_000

/**
 * A connection that is silent for longer is given up. The longest answer, to `rows`, takes SCAN_TIMEOUT_MS and a
 * margin.
 */
export const ANSWER_TIMEOUT_MS = 150_000

/**
 * A typed confirmation is asked for where more than this share of the registered rows goes or changes. A month's
 * correction touches a few per cent of the rows; a wrong month, a wrong distributor or half a file touch far more.
 */
export const CHANGED_SHARE_MAX = 0.1

/** ... or where the new file has fewer than this share of the registered rows: the usual sign of a file cut off. */
export const ROWS_SHARE_MIN = 0.9

/**
 * doctor: seconds without a mark after which an open job that nobody runs is a finding. A task may retry for minutes.
 */
export const QUIET_S = 600

/** doctor: an event is published within seconds; the sweeper, which comes every few minutes, takes what is left. */
export const UNPUBLISHED_S = 900

/**
 * doctor: objects without a manifest that are younger may belong to a run that stages them now: StageSource's timeout.
 */
export const STAGING_S = 900

/** doctor: staged sources whose manifest is looked for, and calls at once. */
export const STAGED_LOOKED_AT_MAX = 2_000
export const CALLS_AT_ONCE = 16

/**
 * Bytes of one staged source that are read to check its content: 800,000 rows are 38 MB. Of a larger one, and beyond
 * ten times as much in one doctor, only names and sizes are looked at; a run reads all of it anyway before it deletes.
 */
export const SET_BYTES_READ_MAX = 64 * 1_024 ** 2
export const SETS_BYTES_READ_MAX = 10 * SET_BYTES_READ_MAX

/** doctor: successes that are compared with what the database holds: some months of a schedule, one call each. */
export const SUCCEEDED_COMPARED_MAX = 500

/** doctor: the first events of a history in which OpenJob is looked for: two hours of waiting for a lock are 186. */
export const OPENING_EVENTS_MAX = 1_000

/** Rows that are shown of what a profile makes of a file: a screenful, enough to see each column. */
export const PREVIEW_ROWS = 20

/** Changed rows, and parties, that a plan or a difference shows: both fit on one screen. All of them are in its CSV. */
export const CHANGES_SHOWN = 10
