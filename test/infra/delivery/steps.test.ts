import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addStacks } from '../../../infra/app.ts'
import { FLAGS } from '../../../infra/config/flags.ts'
import { pipelineConfig } from '../../../infra/config/stages.ts'
import { PipelineStack } from '../../../infra/stacks/pipeline-stack.ts'
import { placeholders } from '../synth.ts'

/*
 * The shell lines of the pipeline's steps, as the template has them, in one shell, with an `aws` that writes down what it
 * is asked and by whom. `npm` is not called here: the small job itself is a test of the local stack.
 */
const folder = mkdtempSync(join(tmpdir(), 'sharelock-steps-'))
afterAll(() => rmSync(folder, { recursive: true }))

const AWS = `#!/bin/sh
echo "$AWS_ACCESS_KEY_ID $AWS_REGION $*" >> "${join(folder, 'calls')}"
case "$*" in
  sts*) printf 'KEY\\tSECRET\\tTOKEN\\n' ;;
  *describe-stacks*) echo "$PROTECTED" ;;
esac
`

let template: Template
beforeAll(() => {
  const outdir = join(folder, 'out')
  const app = new App({ context: FLAGS, analyticsReporting: false, builtinCloudFormationValidation: false, outdir })
  const config = pipelineConfig()
  template = Template.fromStack(
    new PipelineStack(app, 'Pipeline', { config, bundles: placeholders(folder), addStacks }),
  )
  for (const [name, text] of [
    ['aws', AWS],
    ['npm', `#!/bin/sh\necho "$AWS_SESSION_TOKEN npm $*" >> "${join(folder, 'calls')}"\n`],
  ] as const) {
    writeFileSync(join(folder, name), text)
    chmodSync(join(folder, name), 0o755)
  }
}, 120_000)

const run = (step: string, env: Record<string, string>): { status: number | null; calls: string[] } => {
  const project = Object.values(template.findResources('AWS::CodeBuild::Project')).find(
    ({ Properties }) =>
      String(Properties.Description).includes(`/prod/${step}`) || String(Properties.Description).endsWith(step),
  )
  const commands: string[] = JSON.parse(project?.Properties.Source.BuildSpec).phases.build.commands
  writeFileSync(join(folder, 'calls'), '')
  const { status } = spawnSync('sh', ['-e', '-c', commands.join('\n')], {
    env: { PATH: `${folder}:/usr/bin:/bin`, AWS_ACCESS_KEY_ID: 'pipeline', AWS_REGION: 'eu-west-1', ...env },
  })
  const { stdout } = spawnSync('cat', [join(folder, 'calls')], { encoding: 'utf8' })
  return { status, calls: stdout.trim().split('\n') }
}

test("the protection is switched on and looked at, as the stage's deployment role and in its region", () => {
  const env = { DEPLOY_ROLE_ARN: 'arn:role', STACK: 'Sharelock-prod-Data', PROTECTED: 'True' }
  const { status, calls } = run('Protect', env)
  expect(status).toBe(0)
  expect(calls).toEqual([
    expect.stringMatching(/^pipeline eu-west-1 sts assume-role --role-arn arn:role /),
    'KEY ap-northeast-2 cloudformation update-termination-protection --enable-termination-protection --stack-name Sharelock-prod-Data',
    expect.stringMatching(/^KEY ap-northeast-2 cloudformation describe-stacks --stack-name Sharelock-prod-Data /),
  ])
})

test('a stack that stays unprotected makes the step red', () => {
  expect(run('Protect', { DEPLOY_ROLE_ARN: 'arn:role', STACK: 'x', PROTECTED: 'False' }).status).not.toBe(0)
})

test("the small job runs with the stage's credentials, after the packages are there", () => {
  const { status, calls } = run('Smoke', { SMOKE_ROLE_ARN: 'arn:smoke' })
  expect(status).toBe(0)
  expect(calls.map((call) => call.replace(/ --.*/, ''))).toEqual([
    'npm ci',
    'pipeline eu-west-1 sts assume-role',
    'TOKEN npm run smoke',
  ])
})
