import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, expect, test } from 'vitest'

/*
 * The commands of the pipeline's build, in a copy of the place where it runs them: a folder with the source and nothing
 * else (no .git, no right to execute, no node_modules), and the variables that CodeBuild sets. Two things differ, from
 * outside the commands: SHARELOCK_TESTS names the tests of the project's form, for the whole suite has this very test in
 * it and takes its time; and CHROMIUM names a program, so that no browser is installed for tests that open none.
 */
const ROOT = join(import.meta.dirname, '..', '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'sharelock-build-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const src = join(folder, 'src')
const LEFT_OUT = new Set(['.git', '.local', 'node_modules', 'cdk.out'])

const archive = (): void => {
  cpSync(ROOT, src, { recursive: true, filter: (path) => !LEFT_OUT.has(relative(ROOT, path)) })
  for (const path of readdirSync(src, { recursive: true, encoding: 'utf8' }).map((name) => join(src, name)))
    if (statSync(path).isFile()) chmodSync(path, 0o644)
}

/** As CodeBuild documents them; the credentials' address answers nobody here. */
const CODEBUILD = {
  CI: 'true',
  AWS_REGION: 'ap-northeast-2',
  AWS_DEFAULT_REGION: 'ap-northeast-2',
  AWS_EXECUTION_ENV: 'AWS_ECS_EC2',
  AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/credentials/00000000-0000-0000-0000-000000000000',
  CODEBUILD_BUILD_ARN: 'arn:aws:codebuild:ap-northeast-2:444444444444:build/sharelock:1',
  CODEBUILD_BUILD_ID: 'sharelock:1',
  CODEBUILD_BUILD_NUMBER: '1',
  CODEBUILD_BUILD_SUCCEEDING: '1',
  CODEBUILD_INITIATOR: 'codepipeline/sharelock',
  CODEBUILD_SOURCE_VERSION: 'arn:aws:s3:::artifacts/source.zip',
  CODEBUILD_SRC_DIR: src,
}

/** How this machine reaches a package registry; CodeBuild needs none of these. */
const NETWORK = /^(npm_config_.*|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+)$/i

/** One shell for all commands of a build, as CodeBuild has it; the first that fails ends it. */
const build = (commands: readonly string[], env: Readonly<Record<string, string>> = {}, cwd = src) => {
  const { HOME = folder, PATH = '' } = process.env
  const outer = Object.fromEntries(Object.entries(process.env).filter(([name]) => NETWORK.test(name)))
  // Without this checkout's own programs, which `npm test` puts in front.
  const path = PATH.split(':')
    .filter((part) => !part.includes('node_modules/.bin'))
    .join(':')
  return spawnSync('sh', ['-e', '-c', commands.join('\n')], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1_024 * 1_024,
    env: { ...outer, HOME, PATH: `${path}:${join(process.execPath, '..')}`, ...CODEBUILD, ...env },
  })
}

const projects = (): { Description?: string; Source: { BuildSpec: string } }[] => {
  const template = JSON.parse(readFileSync(join(src, 'cdk.out/Sharelock-Pipeline.template.json'), 'utf8'))
  return Object.values<{ Type: string; Properties: { Description?: string; Source: { BuildSpec: string } } }>(
    template.Resources,
  ).flatMap(({ Type, Properties }) => (Type === 'AWS::CodeBuild::Project' ? [Properties] : []))
}
const commandsOf = (kind: RegExp): string[] => {
  const found = projects().find(({ Description = '' }) => kind.test(Description))
  return JSON.parse(found?.Source.BuildSpec ?? '{}').phases.build.commands
}

/** Compared below with those of the template that they make. */
const SYNTH = ['bash .ci/run', 'SHARELOCK_STAGE=pipeline npm run synth']

test("the pipeline's own commands build it from the source alone, and what they make deploys itself", () => {
  archive()
  const made = build(SYNTH, {
    SHARELOCK_TESTS: 'test/unit/project',
    CHROMIUM: process.execPath,
    npm_config_prefer_offline: 'true',
  })
  expect(made.status, `${made.stdout.slice(-4_000)}\n${made.stderr.slice(-4_000)}`).toBe(0)
  expect(made.stdout).toMatch(/Test Files .*3 passed/)
  // They are those that the template has, so what was run here is what is run there.
  expect(commandsOf(/Synth/)).toEqual(SYNTH)

  const [, stack] = /deploy (\S+)/.exec(commandsOf(/Mutat|UpdatePipeline/).join('\n')) ?? []
  const listed = build([`node_modules/.bin/cdk -a cdk.out ls ${stack}`])
  expect(listed.stdout.trim(), listed.stderr).toBe('Sharelock-Pipeline')
  const files = readdirSync(join(src, 'cdk.out'), { recursive: true, encoding: 'utf8' })
  for (const stage of ['staging', 'prod'])
    for (const part of ['Data', 'Job'])
      expect(files.filter((file) => file.includes(`${stage}${part}`) && file.endsWith('.template.json'))).toHaveLength(
        1,
      )
}, 900_000)
