/* What is switched on in the model, by its macros. */

export const SAME = 'ONLY_SAME_SOURCE'
export const OTHER = 'ONLY_OTHER_SOURCE'
export const A_COMES_BACK = 'REACQUIRES_A=1'
export const B_COMES_BACK = 'REACQUIRES_B=1'

/** A failover of MySQL loses the last commit. */
export const LOSES_COMMIT = 'LOSES_COMMIT'

/** Jobs write the slot that readers see. */
export const IN_PLACE = 'IN_PLACE'
/** The slot beside holds the set that A wants, whole or not. */
export const REUSES = 'REUSES'
export const LOCKING = 'LOCKING_READER'
export const PINNING = 'PINNING_READER'
export const WITHDRAWS = 'WITHDRAWS'
/** B wants the set that was shown in the beginning. */
export const UNDOES = 'UNDOES'

/** The zombie may be of any of these tasks, see words.pml. */
export const OPENING = 'STRAY_TASKS=3'
export const TRANSITIONS = 'STRAY_TASKS=124'
export const ENDING = 'STRAY_TASKS=384'
export const ANY_TASK = 'STRAY_TASKS=511'
