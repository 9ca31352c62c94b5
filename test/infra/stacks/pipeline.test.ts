import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addStacks } from '../../../infra/app.ts'
import { FLAGS } from '../../../infra/config/flags.ts'
import { pipelineConfig } from '../../../infra/config/stages.ts'
import { PipelineStack } from '../../../infra/stacks/pipeline-stack.ts'
import { placeholders, stageTemplates } from '../synth.ts'

const folder = mkdtempSync(join(tmpdir(), 'sharelock-pipeline-'))
afterAll(() => rmSync(folder, { recursive: true }))

let template: Template
type Stage = {
  readonly Name: string
  readonly Actions: readonly { readonly Name: string; readonly RunOrder?: number }[]
}
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

/** In the order in which they run. */
const actionsOf = (stage: string) => {
  const { Actions = [] } = stages.find(({ Name }) => Name === stage) ?? {}
  return Actions.toSorted((one, two) => (one.RunOrder ?? 1) - (two.RunOrder ?? 1)).map(({ Name }) => Name)
}
const projectOf = (description: RegExp) => {
  const projects = Object.values(template.findResources('AWS::CodeBuild::Project'))
  return projects.find(({ Properties }) => description.test(Properties.Description ?? ''))?.Properties
}
const commandsOf = (description: RegExp): string => String(projectOf(description)?.Source.BuildSpec)

describe('the pipeline', () => {
  test('goes from the source through synth, itself and the bundles to staging and production', () => {
    expect(stages.map(({ Name }) => Name)).toEqual(['Source', 'Build', 'UpdatePipeline', 'Assets', 'staging', 'prod'])
  })

  test('runs all tests before it synthesises itself, where servers and a browser are to be had', () => {
    const { commands } = JSON.parse(commandsOf(/Synth/)).phases.build
    expect(commands).toEqual(['bash .ci/run', 'SHARELOCK_STAGE=pipeline npm run synth'])
    expect(projectOf(/Synth/)).toMatchObject({
      Environment: { Image: pipelineConfig().image, ComputeType: 'BUILD_GENERAL1_LARGE' },
      TimeoutInMinutes: 120,
    })
    // Of an image that is not AWS's own, no runtime can be chosen: the build would end at once.
    expect(commandsOf(/Synth/)).not.toContain('runtime-versions')
  })

  test('does all else on Node 24, on the image of AWS that has it', () => {
    const others = Object.values(template.findResources('AWS::CodeBuild::Project'))
      .map(({ Properties }) => Properties)
      .filter(({ Description = '' }) => !/Synth/.test(Description))
    // Itself, the bundles, and in each stage the protection and the small job.
    expect(others).toHaveLength(6)
    for (const { Environment, Source } of others) {
      expect(Environment.Image).toBe('aws/codebuild/standard:8.0')
      // That of the bundles is a file beside the template.
      const text = Source.BuildSpec.startsWith('{')
        ? Source.BuildSpec
        : readFileSync(join(folder, 'out', Source.BuildSpec))
      expect(JSON.parse(String(text)).phases.install['runtime-versions']).toEqual({ nodejs: '24' })
    }
  })

  test('deploys itself with the CLI that the app was tested with', () => {
    const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(commandsOf(/UpdatePipeline|SelfMutat/)).toContain(`aws-cdk@${devDependencies['aws-cdk']}`)
  })

  test.each(['staging', 'prod'])('deploys %s stack by stack, protects its data and proves it by a job', (stage) => {
    const actions = actionsOf(stage)
    const order = ['Data.Prepare', 'Data.Deploy', 'Data.Protect', 'Job.Prepare', 'Job.Deploy', 'Smoke']
    const shown = actions.map((name) => name.replace(`Sharelock-${stage}-`, '')).filter((name) => order.includes(name))
    expect(shown).toEqual(order)
    expect(actions.at(-1)).toBe('Smoke')
    expect(commandsOf(/Smoke/)).toMatch(/assume-role[\s\S]*npm run smoke/)
  })

  test('asks a person before each stack of production, with its change set to read, and nowhere else', () => {
    const approvals = actionsOf('prod').filter((name) => name.includes('Approve'))
    expect(approvals).toEqual([
      'Sharelock-prod-Data.Approve-Sharelock-prod-Data',
      'Sharelock-prod-Job.Approve-Sharelock-prod-Job',
    ])
    const runOrder = (name: string) =>
      stages.flatMap(({ Actions }) => Actions).find((each) => each.Name === name)?.RunOrder ?? 0
    for (const stack of ['Data', 'Job']) {
      const at = (step: string) => runOrder(`Sharelock-prod-${stack}.${step}`)
      expect(at('Prepare')).toBeLessThan(at(`Approve-Sharelock-prod-${stack}`))
      expect(at(`Approve-Sharelock-prod-${stack}`)).toBeLessThan(at('Deploy'))
    }
    expect(actionsOf('staging').filter((name) => name.includes('Approve'))).toEqual([])
    const changeSets = JSON.stringify(stages).matchAll(/"ChangeSetName":"(\w+)"/g)
    const [named] = new Set([...changeSets].map((match) => match[1]))
    expect(JSON.stringify(stages)).toContain(`--change-set-name ${named} `)
  })

  test('switches termination protection on after each deployment, which CodePipeline does not', () => {
    const spec = commandsOf(/Protect/)
    expect(spec).toMatch(/update-termination-protection --enable-termination-protection --stack-name/)
    const policies = JSON.stringify(template.findResources('AWS::IAM::Policy'))
    expect(policies).toContain('role/cdk-hnb659fds-deploy-role-333333333333-ap-northeast-2')
  })

  test('tells people when it fails and when it waits for one of them', () => {
    template.hasResourceProperties('AWS::CodeStarNotifications::NotificationRule', {
      EventTypeIds: Match.arrayWith([
        'codepipeline-pipeline-pipeline-execution-failed',
        'codepipeline-pipeline-manual-approval-needed',
      ]),
    })
    template.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: pipelineConfig().emails[0],
    })
    template.hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Principal: { Service: 'codestar-notifications.amazonaws.com' }, Action: 'sns:Publish' }),
        ]),
      },
    })
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
    expect(JSON.stringify(stageTemplates('dev').job.toJSON())).not.toContain('-smoke')
  })
})
