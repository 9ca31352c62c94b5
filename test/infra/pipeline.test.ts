import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addStacks } from '../../infra/app.ts'
import { FLAGS } from '../../infra/config/flags.ts'
import { pipelineConfig } from '../../infra/config/stages.ts'
import { PipelineStack } from '../../infra/stacks/pipeline-stack.ts'
import { placeholders, stageTemplates } from './synth.ts'

const folder = mkdtempSync(join(tmpdir(), 'sharelock-pipeline-'))
afterAll(() => rmSync(folder, { recursive: true }))

let template: Template
type Stage = { readonly Name: string; readonly Actions: readonly { readonly Name: string }[] }
let stages: readonly Stage[]
beforeAll(() => {
  const outdir = join(folder, 'out')
  const app = new App({ context: FLAGS, analyticsReporting: false, builtinCloudFormationValidation: false, outdir })
  const config = pipelineConfig()
  template = Template.fromStack(
    new PipelineStack(app, 'Pipeline', { config, bundles: placeholders(folder), addStacks }),
  )
  stages = Object.values(template.findResources('AWS::CodePipeline::Pipeline'))[0]?.Properties.Stages
}, 120_000)

const actionsOf = (stage: string) => stages.find(({ Name }) => Name === stage)?.Actions.map(({ Name }) => Name) ?? []
const commandsOf = (description: RegExp): string => {
  const projects = Object.values(template.findResources('AWS::CodeBuild::Project'))
  const found = projects.find(({ Properties }) => description.test(Properties.Description ?? ''))
  return String(found?.Properties.Source.BuildSpec)
}

describe('the pipeline', () => {
  test('goes from the source through synth, itself and the bundles to staging and production', () => {
    expect(stages.map(({ Name }) => Name)).toEqual(['Source', 'Build', 'UpdatePipeline', 'Assets', 'staging', 'prod'])
  })

  test('runs all tests before it synthesises, on Node 24', () => {
    const spec = commandsOf(/Synth/)
    expect(spec).toMatch(/\.ci\/run[\s\S]*SHARELOCK_STAGE=pipeline npm run synth/)
    expect(spec).toMatch(/"nodejs": "24"/)
    template.allResourcesProperties('AWS::CodeBuild::Project', {
      Environment: Match.objectLike({ Image: 'aws/codebuild/standard:8.0' }),
    })
  })

  test('runs the smoke job in staging after its stacks, the data before the job', () => {
    const actions = actionsOf('staging')
    expect(actions.at(-1)).toBe('Smoke')
    expect(actions.findIndex((name) => name.includes('Data'))).toBeLessThan(
      actions.findIndex((name) => name.includes('Job')),
    )
    expect(commandsOf(/Smoke/)).toMatch(/assume-role[\s\S]*npm run smoke/)
  })

  test('asks a person before production', () => {
    expect(actionsOf('prod')[0]).toBe('Approve')
    expect(actionsOf('staging')).not.toContain('Approve')
  })

  test('may use its connection, under both names of the service', () => {
    const policies = JSON.stringify(template.findResources('AWS::IAM::Policy'))
    for (const action of ['codestar-connections:UseConnection', 'codeconnections:UseConnection'])
      expect(policies).toContain(action)
  })

  test('is a V2 pipeline with one project for all bundles', () => {
    template.hasResourceProperties('AWS::CodePipeline::Pipeline', { PipelineType: 'V2' })
    expect(actionsOf('Assets')).toHaveLength(1)
  })
})

describe('the smoke job', () => {
  test("runs as an operator, from the pipeline's account only, where the stage allows it", () => {
    const { job } = stageTemplates('staging')
    job.hasResourceProperties('AWS::IAM::Role', {
      RoleName: 'sharelock-staging-ap-northeast-2-smoke',
      ManagedPolicyArns: [{ Ref: Match.stringLikeRegexp('^OperatorPolicy') }],
      AssumeRolePolicyDocument: {
        Statement: [
          Match.objectLike({
            Condition: { ArnLike: { 'aws:PrincipalArn': 'arn:aws:iam::444444444444:role/*Smoke*' } },
          }),
        ],
      },
    })
    expect(JSON.stringify(stageTemplates('prod').job.toJSON())).not.toContain('sharelock-prod-smoke')
  })
})
