import { beforeAll, describe, expect, test } from 'vitest'
import { stageConfig } from '../../../infra/config/stages.ts'
import { stageTemplates } from '../synth.ts'

/* The database was restored into another instance of the same name: see docs/restore.md. */
const RESOURCE = 'db-RESTOREDRESTOREDRESTORED'
const SECRET = 'arn:aws:secretsmanager:ap-northeast-2:333333333333:secret:rds!db-restored-AbCdEf'

const synth = (change?: { resourceId: string; masterSecretArn: string }) => {
  const prod = stageConfig('prod')
  if (prod.kind === 'local' || prod.database.kind !== 'new') throw new Error('prod has a database of its own')
  return stageTemplates({ ...prod, database: { ...prod.database, restored: change } })
}

let before: ReturnType<typeof synth>
let after: ReturnType<typeof synth>

beforeAll(() => {
  before = synth()
  after = synth({ resourceId: RESOURCE, masterSecretArn: SECRET })
}, 120_000)

const exportsOf = ({ data }: ReturnType<typeof synth>): string[] =>
  Object.values(data.toJSON().Outputs as Record<string, { Export?: { Name: string } }>).flatMap((output) =>
    output.Export === undefined ? [] : [output.Export.Name],
  )

describe('a restored database', () => {
  test('is logged in to by its own resource id, and by no function under the old one', () => {
    const policies = JSON.stringify(after.job.findResources('AWS::IAM::Policy'))
    const resources = new Set([...policies.matchAll(/dbuser:([^/]*)\/sharelock_app/g)].map((match) => match[1]))
    expect([...resources]).toEqual([RESOURCE])
    expect(policies).not.toContain('DbiResourceId')
    expect(JSON.stringify(before.job.findResources('AWS::IAM::Policy'))).toContain('DbiResourceId')
  })

  test('is migrated with its own secret, by a migrator that is told which instance it is', () => {
    const [migrator] = Object.values(
      after.job.findResources('AWS::Lambda::Function', { Properties: { Description: 'Sharelock prod: Migrate' } }),
    )
    expect(migrator?.Properties.Environment.Variables).toMatchObject({
      MASTER_SECRET_ARN: SECRET,
      DATABASE_RESOURCE_ID: RESOURCE,
    })
    expect(JSON.stringify(after.data.findResources('AWS::EC2::VPCEndpoint'))).toContain(SECRET)
  })

  test('changes nothing of the instance in the template, and takes no export away that the job stack still imports', () => {
    expect(after.data.findResources('AWS::RDS::DBInstance')).toEqual(before.data.findResources('AWS::RDS::DBInstance'))
    expect(exportsOf(after)).toEqual(expect.arrayContaining(exportsOf(before)))
  })
})
