import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addStacks, buildApp } from '../../../infra/app.ts'
import { LINT_IGNORED } from '../../../infra/checks/lint.ts'
import { acknowledgedOf } from '../../../infra/checks/nag.ts'
import { FLAGS } from '../../../infra/config/flags.ts'
import { stageConfig } from '../../../infra/config/stages.ts'
import { DataStack } from '../../../infra/stacks/data-stack.ts'
import { JobStack } from '../../../infra/stacks/job-stack.ts'
import { deployed, EXISTING } from '../existing.ts'
import { placeholders } from '../synth.ts'

const folder = mkdtempSync(join(tmpdir(), 'sharelock-checks-'))
afterAll(() => rmSync(folder, { recursive: true }))

const appIn = (outdir: string) =>
  new App({ context: FLAGS, analyticsReporting: false, builtinCloudFormationValidation: false, outdir })

const synthesise = (what: string): string => {
  const outdir = join(folder, what)
  const app = appIn(outdir)
  buildApp(app, what, placeholders(mkdtempSync(join(folder, 'bundles-'))))
  app.synth()
  return outdir
}

/** A stage in somebody's VPC, on their stores. */
const synthesiseGuest = (): string => {
  const outdir = join(folder, 'guest')
  const app = appIn(outdir)
  addStacks(app, deployed(EXISTING), placeholders(mkdtempSync(join(folder, 'bundles-'))))
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  app.synth()
  return outdir
}

let outdirs: string[]
beforeAll(() => {
  // An open finding of cdk-nag stops the synthesis.
  outdirs = [...['all', 'pipeline'].map(synthesise), synthesiseGuest()]
}, 180_000)

type Found = { readonly id: string; readonly path: string }

/** The findings of a stage on which nothing was acknowledged, and what would be. */
const findings = (stage: string): { found: Found[]; acknowledged: Found[] } => {
  const config = stageConfig(stage)
  if (config.kind === 'local') throw new Error('the local stage is not deployed')
  const app = appIn(join(folder, `bare-${stage}`))
  const env = { account: config.account, region: config.region }
  const stackName = (name: string) => `Sharelock-${stage}-${name}`
  const data = new DataStack(app, 'Data', { config, env, stackName: stackName('Data') })
  const bundles = placeholders(mkdtempSync(join(folder, 'bundles-')))
  const job = new JobStack(app, 'Job', { config, env, bundles, stores: () => data.stores, stackName: stackName('Job') })
  app.synth()
  const { violations } = new AwsSolutionsChecks(app).validateScope(app)
  return {
    found: violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath = '' }) => ({ id: ruleName, path: constructPath })),
    ),
    acknowledged: acknowledgedOf({ data, job }).map(({ id, at }) => ({ id, path: at.node.path })),
  }
}

const covers = (ack: Found) => (found: Found) => found.id === ack.id && `${found.path}/`.startsWith(`${ack.path}/`)

describe('cdk-nag', () => {
  test('leaves no finding open, and every acknowledgement has its finding in some stage', () => {
    const stages = ['dev', 'prod'].map(findings)
    for (const { found, acknowledged } of stages) {
      const open = found.filter((each) => !acknowledged.some((ack) => covers(ack)(each)))
      expect(open).toEqual([])
    }
    const all = stages.flatMap(({ found }) => found)
    const withoutStage = ({ id, path }: Found) => ({ id: id.replace(/Sharelock-\w+-Data|\d{12}/g, ''), path })
    const stale = stages
      .flatMap(({ acknowledged }) => acknowledged.map(withoutStage))
      .filter((ack) => !all.map(withoutStage).some(covers(ack)))
    expect(stale).toEqual([])
  }, 120_000)
})

describe('cfn-lint', () => {
  test('is clean for every stage and the pipeline, where it is installed', () => {
    if (spawnSync('cfn-lint', ['--version']).error !== undefined) {
      console.log('cfn-lint is not installed: the templates were not linted')
      return
    }
    const templates = outdirs.flatMap((outdir) =>
      readdirSync(outdir, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.template.json'))
        .map((file) => join(outdir, file)),
    )
    expect(templates.length).toBeGreaterThanOrEqual(13)
    const { stdout } = spawnSync('cfn-lint', ['--format', 'parseable', '-i', ...LINT_IGNORED, '-t', ...templates], {
      encoding: 'utf8',
    })
    expect(stdout).toBe('')
  }, 180_000)
})
