import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { stageOf } from '../../infra/app.ts'
import { stageConfig } from '../../infra/config/stages.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const outdir = mkdtempSync(join(tmpdir(), 'sharelock-app-'))
afterAll(() => rmSync(outdir, { recursive: true }))

describe('the app', () => {
  test('synthesises the local stage without an account, network or Docker, every bundle in place', () => {
    execFileSync(process.execPath, ['bin/app.ts'], {
      cwd: ROOT,
      env: { PATH: '', HOME: tmpdir(), CDK_OUTDIR: outdir, SHARELOCK_STAGE: 'local' },
    })
    const template = JSON.parse(readFileSync(join(outdir, 'Sharelock-local-Job.template.json'), 'utf8'))
    const keys = Object.values<{ Type: string; Properties: { Code: { S3Key: string } } }>(template.Resources)
      .filter(({ Type }) => Type === 'AWS::Lambda::Function')
      .map(({ Properties }) => Properties.Code.S3Key)
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys) expect(existsSync(join(outdir, `asset.${key.replace('.zip', '')}`, 'index.mjs'))).toBe(true)
  }, 60_000)

  test('synthesises all that is delivered, valid for CloudFormation and without a finding, as offline as that', () => {
    const delivered = join(outdir, 'delivered')
    execFileSync(process.execPath, ['bin/app.ts'], {
      cwd: ROOT,
      env: { PATH: '', HOME: tmpdir(), CDK_OUTDIR: delivered, SHARELOCK_STAGE: 'pipeline' },
      stdio: 'pipe',
    })
    for (const stage of ['staging', 'prod'])
      expect(existsSync(join(delivered, `assembly-Sharelock-Pipeline-${stage}`))).toBe(true)
  }, 300_000)

  test('takes the stage from the context, then from the environment, then all that is deployed', () => {
    expect(stageOf({ CDK_CONTEXT_JSON: '{"stage":"dev"}', SHARELOCK_STAGE: 'prod' })).toBe('dev')
    expect(stageOf({ CDK_CONTEXT_JSON: '{}', SHARELOCK_STAGE: 'prod' })).toBe('prod')
    expect(stageOf({})).toBe('all')
  })

  test('gives the local stage to nobody who deploys', () => {
    const env = {
      PATH: '',
      HOME: tmpdir(),
      CDK_OUTDIR: join(outdir, 'never'),
      CDK_CLI_VERSION: '2',
      SHARELOCK_STAGE: 'local',
    }
    const { status, stderr } = spawnSync(process.execPath, ['bin/app.ts'], { cwd: ROOT, env, encoding: 'utf8' })
    expect(status).not.toBe(0)
    expect(stderr).toContain('The local stage is not deployed')
  })

  test('says which stages there are', () => {
    expect(() => stageConfig('lokal')).toThrow('There is no stage "lokal"; the stages are: local, dev, staging, prod')
  })
})
