import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { sourceRowsMax } from '../../../functions/contract/source-limits.ts'
import { deployed, EXISTING } from '../existing.ts'
import { stageTemplates } from '../synth.ts'

/* Every command of the pages on deployments is run here as it stands, or says that it was not run. */
const ROOT = join(import.meta.dirname, '..', '..', '..')
const PAGES = ['docs/first-deployment.md', 'docs/deployments.md', 'docs/restore.md', 'docs/reader-access.md']
const outdir = mkdtempSync(join(tmpdir(), 'sharelock-pages-'))
afterAll(() => rmSync(outdir, { recursive: true, force: true }))

const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8')
const blocks = PAGES.flatMap((page) =>
  [...textOf(page).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? ''),
)
const commandsIn = (block: string): string[] => block.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
const notRun = blocks.filter((block) => /^# Not run: \S/.test(block)).flatMap(commandsIn)
const run = new Set(blocks.filter((block) => !/^# Not run/.test(block)).flatMap(commandsIn))

type Ended = { readonly status: number | null; readonly stdout: string; readonly stderr: string }

const sh = (command: string): Ended => {
  const { HOME = tmpdir(), PATH = '' } = process.env
  const env = {
    HOME,
    PATH: `${join(ROOT, 'node_modules/.bin')}:${PATH}`,
    CDK_OUTDIR: outdir,
    AWS_EC2_METADATA_DISABLED: 'true',
  }
  return spawnSync('sh', ['-c', command], { cwd: ROOT, encoding: 'utf8', env, maxBuffer: 64 * 1_024 * 1_024 })
}

const STAGES = ['dev', 'staging', 'prod']
const STACKS = STAGES.flatMap((stage) => [`Sharelock-${stage}-Data`, `Sharelock-${stage}-Job`])

/** What each says here, where the values are examples and nobody is signed in. */
const RUN_HERE: Record<string, (ended: Ended) => void> = {
  'npx cdk ls': ({ stdout }) => expect(stdout.trim().split('\n').toSorted()).toEqual(STACKS.toSorted()),
  'SHARELOCK_STAGE=pipeline npx cdk ls': ({ stdout }) =>
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.replace(/ .*/, '')),
    ).toEqual([
      'Sharelock-Pipeline',
      ...['staging', 'prod'].flatMap((stage) =>
        ['Data', 'Job'].map((part) => `Sharelock-Pipeline/${stage}/Sharelock-${stage}-${part}`),
      ),
    ]),
  'npm run preflight -- --stage dev': ({ status, stdout }) => {
    expect(status).toBe(1)
    expect(stdout).toContain('The account of dev 111111111111 is an example that nobody owns.')
  },
  'SHARELOCK_STAGE=dev npm run synth': ({ status, stderr }) => expect(status, stderr).toBe(0),
}

/** And these in tests of their own. */
const RUN_ELSEWHERE: Record<string, string> = {
  'npm ci': 'test/infra/delivery/buildspec.test.ts',
  'npm run lint:templates': 'test/infra/checks/checks.test.ts',
  'npm run preflight -- --against local': 'test/service/preflight/command.test.ts',
}

describe('the pages', () => {
  test('have no command that neither a test runs nor the page marks as not run', () => {
    expect([...run].toSorted()).toEqual([...Object.keys(RUN_HERE), ...Object.keys(RUN_ELSEWHERE)].toSorted())
    for (const [command, file] of Object.entries(RUN_ELSEWHERE))
      expect(textOf(file), command).toMatch(/\.ci\/run|cfn-lint|'--against', 'local'/)
  })

  test.each(Object.entries(RUN_HERE))(
    '`%s` does what the page says',
    (command, judge) => {
      judge(sh(command))
    },
    300_000,
  )
})

test("the bootstrap's deployment role may do what the pipeline's steps do under it", () => {
  const bootstraps = notRun.filter((command) => command.startsWith('npx cdk bootstrap'))
  expect(bootstraps).toHaveLength(4)
  const { status, stdout } = sh(`${bootstraps.find((command) => command.includes('--trust'))} --show-template`)
  expect(status).toBe(0)
  const role = stdout.slice(stdout.indexOf('DeploymentActionRole:'), stdout.indexOf('CloudFormationExecutionRole:'))
  expect(role).toContain('TrustedAccounts')
  // Describing stacks is among what may be read.
  for (const allowed of ['cloudformation:UpdateTerminationProtection', 'AWSCloudFormationReadOnlyAccess'])
    expect(role).toContain(allowed)
})

test('say how many rows a file may have where memory is short', () => {
  const millions = Math.floor(sourceRowsMax(3_008) / 1_000_000)
  expect(textOf('docs/first-deployment.md')).toContain(`files of up to ${millions} million rows`)
})

describe('what is not run here', () => {
  test('names stacks, scripts and verbs that there are', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
    const verbs = notRun.flatMap((command) => [...command.matchAll(/npx cdk (\S+)/g)].map((match) => match[1]))
    expect([...new Set(verbs)].toSorted()).toEqual(['bootstrap', 'deploy', 'destroy', 'diff'])
    for (const command of notRun) {
      for (const [stack] of command.matchAll(/Sharelock-\w+-\w+/g)) expect(STACKS).toContain(stack)
      for (const [, script = ''] of command.matchAll(/npm run (\S+)/g)) expect(Object.keys(scripts)).toContain(script)
    }
  })

  test('asks AWS by operations and options that its CLI knows, where that is installed', () => {
    if (spawnSync('aws', ['--version']).error !== undefined) {
      console.log('the AWS CLI is not installed: its operations were not compared')
      return
    }
    const calls = notRun.flatMap((command) =>
      [...command.matchAll(/(?<=^|\$\()aws (?:"[^"\n]*"|[^")\n])*?(?=\)|$)/g)].map(([call]) => call),
    )
    // Commands of the CLI itself and no operations: they have no skeleton.
    const operations = calls.filter((call) => !/^aws (s3|logs tail|rds generate-db-auth-token|\w+ wait) /.test(call))
    expect(operations.length).toBeGreaterThan(15)
    for (const call of new Set(operations)) {
      const { status, stderr } = sh(`${call.replaceAll('$', '')} --generate-cli-skeleton input`)
      expect(status, `${call}\n${stderr}`).toBe(0)
    }
  }, 300_000)
})

type Resource = {
  readonly Type: string
  readonly DeletionPolicy?: string
  readonly Properties: { readonly LogGroupName?: string }
}
const resources = (): Record<string, Resource> => stageTemplates('dev').data.toJSON().Resources

describe('removing a stage', () => {
  /** What holds a retained resource's place in a subnet or group that goes with the stack, and the command that ends it. */
  const ENDED_BY: Record<string, string> = {
    'AWS::RDS::DBInstance': 'aws rds wait db-instance-deleted --db-instance-identifier sharelock-dev',
    'AWS::ElastiCache::ReplicationGroup':
      'aws elasticache wait replication-group-deleted --replication-group-id sharelock-dev',
  }

  test('ends what is retained before the stack that it stands on, and what imports before what exports', () => {
    const all = Object.entries(resources())
    const isKept = ({ DeletionPolicy = 'Delete' }: Resource) => DeletionPolicy !== 'Delete'
    const going = all.filter(([, resource]) => !isKept(resource)).map(([id]) => id)
    const standing = all.filter(
      ([, resource]) => isKept(resource) && going.some((id) => JSON.stringify(resource.Properties).includes(`"${id}"`)),
    )
    expect(new Set(standing.map(([, { Type }]) => Type))).toEqual(new Set(Object.keys(ENDED_BY)))
    const page = textOf('docs/deployments.md')
    const removal = page.slice(page.indexOf('## Removing a stage'))
    const at = (command: string) => {
      expect(removal, command).toContain(command)
      return removal.indexOf(command)
    }
    const stackGoes = at('npx cdk destroy Sharelock-dev-Data')
    for (const command of Object.values(ENDED_BY)) expect(at(command)).toBeLessThan(stackGoes)
    expect(at('npx cdk destroy Sharelock-dev-Job')).toBeLessThan(stackGoes)
    expect(at('--no-deletion-protection')).toBeLessThan(at('aws rds delete-db-instance'))
    expect(at('--no-enable-termination-protection')).toBeLessThan(stackGoes)
  }, 300_000)

  test('names everything that stays under a name of its own', () => {
    const names = Object.values(resources())
      .filter(({ DeletionPolicy = 'Delete' }) => DeletionPolicy !== 'Delete')
      .flatMap(({ Properties: { LogGroupName } }) => LogGroupName ?? [])
    expect(names).toHaveLength(3)
    for (const name of names) expect(textOf('docs/deployments.md')).toContain(`--log-group-name ${name}`)
  })
})

describe('moving from new to existing stores', () => {
  const imports = (text: string) => new Set([...text.matchAll(/"Fn::ImportValue":"([^"]+)"/g)].map((match) => match[1]))

  test('in place is refused before anything is touched: the job stack imports what would go', () => {
    const { network, database, lock } = EXISTING
    const old = stageTemplates('dev')
    const moved = stageTemplates(deployed({ ...EXISTING, stage: 'dev', network, database, lock }))
    const exported = JSON.stringify(moved.data.toJSON().Outputs)
    const lost = [...imports(JSON.stringify(old.job.toJSON()))].filter((name) => !exported.includes(`"${name}"`))
    expect(lost.some((name) => name?.includes('Database'))).toBe(true)
    expect(lost.some((name) => name?.includes('LockGroup'))).toBe(true)
  })
})
