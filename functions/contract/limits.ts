/**
 * Every number that a run promises or depends on, with its reason; those of a file are in source-limits.ts, those of what
 * works beside a run in support-limits.ts. The relations between them are tested
 * in test/unit/contract/limits.test.ts and test/infra; change one here and the tests say what else it touches.
 */

// --- chunks -----------------------------------------------------------------------------------------------------

/**
 * Rows of one chunk, that is of one transaction. At 80,000 to 110,000 rows/s a lane, a chunk holds its locks for 0.2 s.
 */
export const CHUNK_ROWS_MAX = 15_000

/** Rows one track (ISRC) may have in a file: chunks are cut between tracks, so a track must fit in one. */
export const TRACK_ROWS_MAX = 5_000

/** Map items per phase at most: with about 8 history events an item, both phases stay far below 25,000. */
export const MAP_ITEMS_MAX = 400

/** Chunks of one item: fewer items mean fewer Lambda calls. More only where there would be too many items. */
export const ITEM_CHUNKS = 8

/**
 * An item takes no more than this share of the chunks that are left, so the last ones are small and lanes end together.
 */
export const ITEM_SHARE_MAX = 1 / 4

/** Items that this adds at the end, at most, up to three times the largest slice. */
export const ITEMS_ADDED_MAX = 20

/**
 * Rows of the largest slice we plan for: "up to tens of millions". Tests compute history and payload at three times
 * this.
 */
export const SLICE_ROWS_PLANNED = 30_000_000

/** How often a job may plan its delete: a stranger who keeps inserting must not keep a job in DELETING for ever. */
export const DELETE_PLANS_MAX = 5

// --- lock -------------------------------------------------------------------------------------------------------

/** Life of the lock without an extension. Longer than the longest retry delay plus one chunk; each chunk extends it. */
export const LOCK_TTL_MS = 300_000

/** A lock whose acquisition left less than this share of its TTL is refused: its holder may already be late. */
export const LOCK_FRESH_SHARE = 0.5

/** How often an execution that lost its lock may acquire a new one. */
export const REACQUIRE_MAX = 3

/** One lock command, connecting included. A server that accepts and stays silent costs this much, never the Lambda. */
export const LOCK_COMMAND_TIMEOUT_MS = 2_000
export const LOCK_CONNECT_TIMEOUT_MS = 2_000

/** Between a refused login and the next one with a new token: the client leaves the connection and signs meanwhile. */
export const LOCK_LOGIN_PAUSE_MS = 100

// --- database ---------------------------------------------------------------------------------------------------

export const DATABASE_CONNECT_TIMEOUT_MS = 5_000

/** One statement of a chunk or transition. Past it the query is killed on the server before anything is retried. */
export const STATEMENT_TIMEOUT_MS = 20_000

/**
 * A statement that reads a whole slice: at about 4 million rows/s, the planned slice takes 8 s and three times it 25 s.
 */
export const SCAN_TIMEOUT_MS = 120_000

/** Kept free at the end of an invocation, to roll back and to answer by name instead of being cut off. */
export const ANSWER_RESERVE_MS = 3_000

/** What of that reserve a statement that is cut off may take to be killed on the server; a retry meets it otherwise. */
export const KILL_RESERVE_MS = 1_500

/** A statement that waits for a row lock gives up after this (error 1205) and the transaction is rolled back. */
export const LOCK_WAIT_TIMEOUT_S = 10

/**
 * A session that says nothing for so long is ended by the server: that of a sandbox that was reclaimed without a
 * goodbye.
 */
export const IDLE_TIMEOUT_S = 600

/**
 * Any statement waits this long for another session of ours, which ends within a second or is frozen, then kills it.
 */
export const LOCK_PATIENCE_S = 8

/** Raising a fence waits this long for the transactions in flight, then kills the sessions that block it. */
export const FENCE_PATIENCE_S = 2

/**
 * The switch waits this long at a time for a reader's lock, then lets those pass who came behind it, and tries again: for a
 * quarter of an hour, which a settlement program's transaction ends within, or is forgotten.
 */
export const SWITCH_WAIT_S = 4
export const SWITCH_PATIENCE_S = 900

/** A task that waits for readers stops when less than this is left: one more wait, and the answer. */
export const SWITCH_RESERVE_MS = 20_000

/** A chunk goes to the server in pieces of this size, whatever its max_allowed_packet. */
export const LOAD_PIECE_BYTES = 65_536

/**
 * The server makes one text of a chunk's rows to compare it, up to a megabyte; a test measures it. Our largest statement is
 * far below: it writes 1,000 chunks into the ledger, about 150 bytes each.
 */
export const PACKET_BYTES_MIN = 1_048_576

/** How long a migrator waits for another one: longer than any migration takes. */
export const MIGRATION_WAIT_S = 120

/**
 * A migration's statement waits this long for a table, since everybody who comes later waits behind it; then it pauses,
 * so that they pass, and tries again: about a minute and a half in all, for a reader's long transaction.
 */
export const MIGRATION_LOCK_WAIT_S = 5
export const MIGRATION_PAUSE_S = 5
export const MIGRATION_TRIES_MAX = 9

/** How often a transaction is rerun inside one task after a deadlock or a dropped connection. */
export const TRANSACTION_TRIES_MAX = 5

/**
 * The same where each try waited LOCK_WAIT_TIMEOUT_S for a lock. A session of ours is killed before that, so the holder is
 * somebody else's: an operator hears within half a minute whose it is, and the machine tries the task again.
 */
export const BLOCKED_TRIES_MAX = 2

/**
 * Characters of a halt's error and cause, of a reason and of a caller: AWS's longest ARN fits. Columns hold as many.
 */
export const HALT_ERROR_CHARS_MAX = 100
export const HALT_CAUSE_CHARS_MAX = 2_000
export const WHY_CHARS_MAX = 500
export const CALLER_CHARS_MAX = 2_048
export const WAITS_FOR_CHARS_MAX = 500

/** Step Functions' own limit on the name of an execution. */
export const EXECUTION_NAME_CHARS_MAX = 80

/** An idle connection older than this is pinged before use: a thawed sandbox may hold a dead socket. */
export const PING_AFTER_IDLE_MS = 30_000

// --- storage and topic ------------------------------------------------------------------------------------------

/** Connecting to S3, and waiting for the first byte of an answer: it comes in well under a second. */
export const AWS_CONNECT_TIMEOUT_MS = 5_000
export const AWS_REQUEST_TIMEOUT_MS = 8_000

/** Attempts of one request, which the SDK makes by itself. */
export const AWS_ATTEMPTS_MAX = 3

/** One S3 request in all, attempts and pauses included. */
export const AWS_CALL_TIMEOUT_MS = 25_000

/** A body that sends nothing for this long is given up: a silent connection would last until the task's end. */
export const STORAGE_STALL_MS = 30_000

/** One staged object, at most about a megabyte, from its first byte to its last: one that trickles is given up too. */
export const OBJECT_TRANSFER_MS = 30_000

/**
 * One event on its way to the topic, and all of one call. The job is REGISTERED by then and its run waits for this, so
 * a silent topic costs seconds; the sweeper publishes what is left in the outbox.
 */
export const TOPIC_REQUEST_TIMEOUT_MS = 4_000
export const TOPIC_CALL_TIMEOUT_MS = 5_000
export const PUBLISH_BUDGET_MS = 10_000

// --- tasks ------------------------------------------------------------------------------------------------------

/**
 * A chunk loop stops between chunks when less than this is left: enough for a lock command, a slow statement and the
 * answer. It looks once the next object is here, so waiting for S3 is not part of it.
 */
export const CHUNK_RESERVE_MS = 40_000

/** A task's timeout exceeds its Lambda's by this, so the engine never retries beside a running attempt on purpose. */
export const TASK_MARGIN_S = 10

/** A whole execution, waiting for a held lock included. */
export const EXECUTION_TIMEOUT_S = 6 * 3_600

/** AWS's limits on one execution. */
export const HISTORY_EVENTS_MAX = 25_000
export const PAYLOAD_BYTES_MAX = 262_144
