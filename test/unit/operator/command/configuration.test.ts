import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { configured } from '../../../../operator/command/configuration.ts'
import { call } from '../../../support/operator.ts'

/* Where a call gets its stage, profile and region from. */

const folder = mkdtempSync(join(tmpdir(), 'sharelock-configuration-'))
afterAll(() => rmSync(folder, { recursive: true }))

let homes = 0
const homeWith = (file: string, text: string): { HOME: string } => {
  const home = join(folder, String(++homes))
  mkdirSync(join(home, file, '..'), { recursive: true })
  writeFileSync(join(home, file), text)
  return { HOME: home }
}
const CONFIGURATION = '.config/sharelock/config.json'
const STAGES = JSON.stringify({
  stage: 'dev',
  stages: { dev: { profile: 'practice' }, prod: { profile: 'settlement', region: 'ap-northeast-2' } },
})

describe('the configuration', () => {
  test('names the stage of calls that name none, and the profile and region of each', () => {
    const env = homeWith(CONFIGURATION, STAGES)
    expect(configured(undefined, env)).toEqual({ stage: 'dev', variables: { AWS_PROFILE: 'practice' } })
    const prod = { stage: 'prod', variables: { AWS_PROFILE: 'settlement', AWS_REGION: 'ap-northeast-2' } }
    expect(configured('prod', env)).toEqual(prod)
    expect(configured(undefined, { ...env, SHARELOCK_STAGE: 'prod' })).toEqual(prod)
    expect(configured('other', env)).toEqual({ stage: 'other', variables: {} })
  })

  test('comes behind variables that are set, and need not be there', () => {
    const env = { ...homeWith(CONFIGURATION, STAGES), AWS_PROFILE: 'mine' }
    expect(configured('prod', env).variables).toEqual({ AWS_REGION: 'ap-northeast-2' })
    expect(configured(undefined, { HOME: folder })).toEqual({ stage: undefined, variables: {} })
    expect(configured(undefined, {})).toEqual({ stage: undefined, variables: {} })
  })

  test.each([
    ['{', /config\.json is wrong: .*JSON/],
    ['{"stages": {"prod": {"profil": "x"}}}', /is wrong: stages\.prod\. .*profil/],
    ['{"stage": 1}', /is wrong: stage\. /],
  ])('that is wrong ends the call with 2, by its file and field: %s', async (text, sentence) => {
    const { code, stderr } = await call(['list', '--stage', 'prod'], homeWith(CONFIGURATION, text))
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(sentence) })
  })

  test('that a variable names has to be there', async () => {
    const { code, stderr } = await call(['list', '--stage', 'prod'], { SHARELOCK_CONFIG: '/nowhere.json' })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('/nowhere.json') })
  })
})
