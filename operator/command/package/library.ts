import { join } from 'node:path'

/** Stands for ../../console/library.ts in the installed command, which has no packages around it. */
export const IDIOMORPH = join(import.meta.dirname, 'assets', 'idiomorph.js')
