import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { bundleAlone } from '../operator/command/alone/bundle.ts'

/* `npm run alone`: makes the one file that a distributor checks its own files with. */
const file = join(import.meta.dirname, '..', 'dist', 'sharelock.mjs')
await bundleAlone(file)
chmodSync(file, 0o755)
console.log(`${file}: needs Node 22 or newer, and nothing else`)
