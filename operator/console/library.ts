import { fileURLToPath } from 'node:url'

/** The one library that the console's pages load, as a file. */
export const IDIOMORPH = fileURLToPath(import.meta.resolve('idiomorph/dist/idiomorph.min.js'))
