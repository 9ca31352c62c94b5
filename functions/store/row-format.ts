/** The columns of one row as it travels: in a staged object, in LOAD DATA, in a sheet that a file is checked against. */
export const ROW_COLUMNS = ['isrc', 'right_type', 'party_id', 'share'] as const

/**
 * Loads lines of a staged object into one slice: values are the distributor's id and the first day of the month. What runs
 * it has to be guarded: see share-ratio.ts.
 */
export const LOAD_ROWS = `load data local infile 'chunk' into table share_ratio character set ascii
     fields terminated by '\\t' escaped by '' lines terminated by '\\n' (${ROW_COLUMNS.join(', ')})
     set distributor_id = ?, settlement_month = ?`
