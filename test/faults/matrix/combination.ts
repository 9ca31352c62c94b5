import type { Beginning } from './beginning.ts'
import type { Fault } from './fault.ts'
import type { Moment } from './moments.ts'

/** A fault, the moment at which it strikes, and how the slice is before the run. */
export type Combination = { readonly fault: Fault; readonly moment: Moment; readonly beginning: Beginning }
