import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { handlerFile, SUPPORT_NAMES, TASK_NAMES } from '../../functions/contract/tasks.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Some dependencies are CommonJS and call `require` for Node's own modules, which an ES module does not have. */
const REQUIRE =
  "import{createRequire as sharelockRequire}from'node:module';const require=sharelockRequire(import.meta.url);"

const MIGRATE = handlerFile('Migrate')

/** The handlers of every function, tasks first. */
const HANDLERS = [...TASK_NAMES, ...SUPPORT_NAMES].map(handlerFile)

/** A folder per handler file name, each with its bundle as `index.mjs`. */
export type Bundles = ReadonlyMap<string, string>

/**
 * Bundles the handlers, dependencies and AWS SDK included, into one ES module each.
 *
 * One esbuild run makes all of them. NodejsFunction was rejected: it starts npx and esbuild once per function, which takes
 * several times as long, and every synthesis and every test of a stack would pay for it.
 * See decisions.md, "Bundles by one esbuild run".
 *
 * @param files handler files under functions/handlers, without extension
 */
export const bundleHandlers = (files: readonly string[] = HANDLERS): Bundles => {
  const outdir = mkdtempSync(join(tmpdir(), 'sharelock-bundles-'))
  // CDK copies what it needs into its own output while the functions are constructed.
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }))
  buildSync({
    absWorkingDir: ROOT,
    entryPoints: files.map((file) => ({ in: `functions/handlers/${file}.ts`, out: `${file}/index` })),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // Packages' ES builds where they have one: unused parts of the AWS SDK are left out.
    mainFields: ['module', 'main'],
    // Names of errors survive this: they are string literals (contract/failures.ts).
    minify: true,
    legalComments: 'none',
    banner: { js: REQUIRE },
    logLevel: 'error',
  })
  // The migrator reads its SQL beside its own module.
  if (files.includes(MIGRATE))
    cpSync(join(ROOT, 'functions/store/schema/migrations'), join(outdir, MIGRATE, 'migrations'), { recursive: true })
  return new Map(files.map((file) => [file, join(outdir, file)]))
}
