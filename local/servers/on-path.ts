import { delimiter } from 'node:path'
import which from 'which'

/** Server programs are often in sbin, which is not on everybody's PATH. */
const ALSO = ['/usr/sbin', '/usr/local/sbin']

/** The first executable of that name on PATH. */
export const programOnPath = (name: string): string | undefined =>
  which.sync(name, { nothrow: true, path: [process.env.PATH, ...ALSO].filter(Boolean).join(delimiter) }) ?? undefined
