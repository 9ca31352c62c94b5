import { chmod, cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import { IDIOMORPH } from '../../console/library.ts'
import { PROGRAM } from '../alone/bundle.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const ASSETS = join(ROOT, 'operator', 'console', 'assets')

const ownLibrary: Plugin = {
  name: 'own-library',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/library\.ts$/ }, () => ({ path: join(import.meta.dirname, 'library.ts') })),
}

/**
 * Builds the installed command into a folder: one entry, parts that are loaded when they are needed, and the console's
 * files. See decisions.md, "The installed command is built and needs no package".
 *
 * @returns what it is made of
 */
export const bundlePackage = async (folder: string): Promise<Metafile> => {
  await rm(folder, { recursive: true, force: true })
  const { metafile } = await build({
    ...PROGRAM,
    absWorkingDir: ROOT,
    entryPoints: [{ in: 'operator/command/package/main.ts', out: 'sharelock' }],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    // threads.ts knows by this folder that it is a part.
    chunkNames: 'parts/[name]-[hash]',
    splitting: true,
    target: 'node20',
    legalComments: 'linked',
    plugins: [ownLibrary],
  })
  await cp(ASSETS, join(folder, 'parts', 'assets'), { recursive: true })
  await cp(IDIOMORPH, join(folder, 'parts', 'assets', 'idiomorph.js'))
  await chmod(join(folder, 'sharelock.mjs'), 0o755)
  return metafile
}
