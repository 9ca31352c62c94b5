import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))

/** Some dependencies are CommonJS and call `require` for Node's own modules, which an ES module does not have. */
const BANNER = `#!/usr/bin/env node
import{createRequire as sharelockRequire}from'node:module';const require=sharelockRequire(import.meta.url);`

/** What both programs for other people's machines are built with. */
export const PROGRAM = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  mainFields: ['module', 'main'],
  minify: true,
  banner: { js: BANNER },
  metafile: true,
  logLevel: 'error',
} as const satisfies BuildOptions

const withoutAws: Plugin = {
  name: 'without-aws',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/create-operations\.ts$/ }, () => ({ path: join(FOLDER, 'without-aws.ts') })),
}

/**
 * Bundles `validate`, `profile propose` and `profile test` into one file that runs without anything else but Node.
 * See decisions.md, "A distributor's program is one file".
 *
 * @returns what it is made of
 */
export const bundleAlone = async (outfile: string): Promise<Metafile> => {
  const { metafile } = await build({
    ...PROGRAM,
    absWorkingDir: FOLDER,
    entryPoints: ['main.ts'],
    outfile,
    // Its reader's Node is not ours: the oldest that has what the code uses.
    target: 'node22',
    legalComments: 'eof',
    plugins: [withoutAws],
  })
  return metafile
}
