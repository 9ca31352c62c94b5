import { join } from 'node:path'
import { bundlePackage } from '../operator/command/package/bundle.ts'

/* Builds what `npm pack` packs, which calls this first: the installed command. */
await bundlePackage(join(import.meta.dirname, '..', 'dist', 'command'))
