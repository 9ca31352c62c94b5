/** The numbers of a delivered file, each with its reason; see limits.ts for all others of a run. */

/** The uploaded object, compressed or not: what one PutObject takes. */
export const SOURCE_BYTES_MAX = 5 * 1_024 ** 3

/** Rows of one file; the stage keeps them in memory until they are sorted. */
export const SOURCE_ROWS_MAX = 30_000_000

/** What a row takes there at its worst, sort included, and what is there before any. Measured: 90 bytes and 170 MB. */
const SOURCE_ROW_BYTES = 150
const STAGING_BASE_MB = 512

/** Rows of one file that a memory takes: a file with more is refused by its number, and does not end the process. */
export const sourceRowsMax = (memoryMb: number): number =>
  Math.min(SOURCE_ROWS_MAX, Math.floor(((memoryMb - STAGING_BASE_MB) * 1_024 ** 2) / SOURCE_ROW_BYTES))

/** Characters of one CSV record: an unclosed quote is found here and not at the end of the file. */
export const RECORD_CHARS_MAX = 4_096

/** Columns of one header: exports have some dozens. Thousands of empty ones cost ten times as much a byte to read. */
export const COLUMNS_MAX = 1_000

/**
 * Blank lines of one file: some at its end, and up to three behind each record, as a converter of line ends leaves them
 * (CR CR LF). More is no file of shares, and each costs as much to read as a row that pays for itself.
 */
export const BLANK_LINES_FREE = 100_000
export const BLANK_LINES_PER_RECORD = 3

/**
 * How many times its size a gzip file may unpack to, beyond the bytes that are free. CSV of shares packs 7 to 17 times,
 * with long constant columns 130; gzip itself can do 1,032, which makes hours of reading out of one upload.
 */
export const EXPANSION_MAX = 200
export const EXPANSION_FREE_BYTES = 64 * 1_024 ** 2

/**
 * A zip archive or a workbook: its directory is at its end, so all of it is held in memory. The largest workbook of four
 * columns has 40 MiB, and what is larger can be sent as gzip, which is read as a stream.
 */
export const ZIP_BYTES_MAX = 128 * 1_024 ** 2

/** Files of one zip archive: a workbook has some dozens of parts, with pictures hundreds. */
export const ZIP_ENTRIES_MAX = 10_000

/** XML of one sheet: a million rows of ten columns have 400 MiB. It takes some 15 s to read at most. */
export const SHEET_BYTES_MAX = 512 * 1_024 ** 2

/** Any other part of a workbook: its styles may be thousands after years of copying. */
export const SHEET_PART_BYTES_MAX = 32 * 1_024 ** 2

/** Cells of one sheet, blank ones that are stored included: every row that a sheet can have, with sixteen of them. */
export const SHEET_CELLS_MAX = 16 * 1_024 ** 2

/** Where a sheet of Excel ends: row 1,048,576, column XFD, a text of 32,767 characters. What has more was not made by it. */
export const SHEET_ROWS_END = 1_048_577
export const SHEET_COLUMNS_END = 16_385
export const CELL_CHARS_MAX = 32_767

/** Different texts of one workbook, and their bytes: four columns of a full sheet, of 24 bytes each. */
export const SHARED_STRINGS_MAX = 4 * 1_024 ** 2
export const SHARED_STRINGS_BYTES_MAX = 96 * 1_024 ** 2

/** Elements of a workbook's XML lie a dozen deep and have a dozen attributes; all that are open are in memory. */
export const XML_DEPTH_MAX = 64
export const XML_ATTRIBUTES_MAX = 64

/**
 * Different parties, and different right types, of one file. A Map of JavaScript holds 2^24 entries and then throws.
 */
export const DISTINCT_VALUES_MAX = 8_000_000

/** Errors written out in a reject report; the rest are counted. */
export const REJECT_ERRORS_MAX = 100

/** With this many errors the reading ends: one column is wrong from top to bottom, and more of it tells nobody more. */
export const ERRORS_COUNTED_MAX = 100_000

/** Rows of titles before a header, and of totals after the data: a screenful; more is another kind of file. */
export const ROWS_BEFORE_HEADER_MAX = 100
export const ROWS_AFTER_DATA_MAX = 100

/** A profile is small: the names of one column in several languages, and what an export has beside the four. */
export const HEADER_NAMES_MAX = 20
export const HEADER_NAME_CHARS_MAX = 200
export const IGNORED_COLUMNS_MAX = 200

/** Shares are stored as decimal(9,6): a percentage in millionths. */
export const SHARE_DECIMALS = 6
const SHARE_UNITS = 1_000_000
export const SHARE_SUM_MAX_UNITS = 100 * SHARE_UNITS

/**
 * How far rounding may take a sum from 100 at most, whatever the parties and decimals: 200 parties of a file in whole
 * numbers would be granted 100 otherwise. One percentage point is what two parties of whole numbers may be off by.
 */
export const SUM_TOLERANCE_MAX_UNITS = SHARE_UNITS

/**
 * Rows that may be held for over-claims. Disputes are a few tracks of a month; a file with more is wrong as a whole, e.g. in
 * its unit. They are written as one object, of at most 7 MB.
 */
export const HELD_ROWS_MAX = 100_000

/** Held tracks that the manifest, the job and the event name; the held object has all. */
export const HELD_TRACKS_NAMED = 20

/** Files that one month may come in, and bytes of the descriptor that names them: some hundred bytes a part. */
export const PARTS_MAX = 100
export const PARTS_BYTES_MAX = 65_536

/** Examples of one warning: enough to see what it is. */
export const WARNING_EXAMPLES_MAX = 5

/** A month with more than this many times the rows of the month before, or fewer than its part of them, is asked about. */
export const WARNED_ROWS_RATIO = 2

/**
 * A track's shares that sum to at most this look like fractions of 1: two hundredths for rounding. Percentages of a whole
 * catalogue are never that small, so half of the tracks are sign enough.
 */
export const FRACTION_SUM_MAX_UNITS = 1.02 * SHARE_UNITS
export const FRACTION_GROUPS_SHARE = 0.5
