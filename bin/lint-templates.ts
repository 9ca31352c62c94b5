import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LINT_IGNORED } from '../infra/checks/lint.ts'
import { LOCAL } from '../local/host/paths.ts'

/**
 * `npm run lint:templates`: cfn-lint over the templates of every stage and of the pipeline. The one on the PATH is taken;
 * else this version is fetched with pip, once, into .local.
 */
const VERSION = '1.58.0'
const OUTPUT_BYTES_MAX = 64 * 1_024 * 1_024

type Linter = { readonly command: string; readonly before: readonly string[]; readonly env: NodeJS.ProcessEnv }

const run = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) =>
  spawnSync(command, args, { encoding: 'utf8', env, maxBuffer: OUTPUT_BYTES_MAX })

const linter = (): Linter => {
  if (run('cfn-lint', ['--version']).status === 0) return { command: 'cfn-lint', before: [], env: process.env }
  const folder = join(LOCAL, 'cfn-lint', VERSION)
  if (!existsSync(join(folder, 'cfnlint'))) {
    console.log(`Fetching cfn-lint ${VERSION} ...`)
    const { status, stderr } = run('python3', [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--target',
      folder,
      `cfn-lint==${VERSION}`,
    ])
    if (status !== 0)
      throw new Error(`cfn-lint is not to be had: it takes python3 with pip, and a network. ${stderr ?? ''}`)
  }
  return { command: 'python3', before: ['-m', 'cfnlint'], env: { ...process.env, PYTHONPATH: folder } }
}

const main = (): void => {
  const { command, before, env } = linter()
  const outdir = mkdtempSync(join(tmpdir(), 'sharelock-lint-'))
  try {
    for (const what of ['all', 'pipeline']) {
      const { status, stderr } = run(process.execPath, ['bin/app.ts'], {
        ...process.env,
        CDK_OUTDIR: join(outdir, what),
        SHARELOCK_STAGE: what,
      })
      if (status !== 0) throw new Error(`The app does not synthesise:\n${stderr}`)
    }
    const templates = readdirSync(outdir, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.template.json'),
    )
    const args = ['--format', 'parseable', '-i', ...LINT_IGNORED, '-t', ...templates.map((file) => join(outdir, file))]
    const { status, stdout, stderr } = run(command, [...before, ...args], env)
    if (status !== 0) throw new Error(`${stdout}${stderr}`.replaceAll(`${outdir}/`, ''))
    console.log(`cfn-lint finds nothing in ${templates.length} templates.`)
  } finally {
    rmSync(outdir, { recursive: true })
  }
}

try {
  main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
