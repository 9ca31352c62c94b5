import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { localStackFile } from '../../../../functions/contract/local-stack-file.ts'
import { writeEnvironmentFile } from '../../../../local/kept/environment-file.ts'
import { findLocalStack } from '../../../../operator/command/local-stack.ts'
import { call } from '../../../support/operator.ts'

const VARIABLES = {
  SHARELOCK_STAGE: 'local',
  AWS_REGION: 'ap-northeast-2',
  // Nobody listens there: the sentence shows where the command went.
  AWS_ENDPOINT_URL_LAMBDA: 'http://127.0.0.1:9',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local-secret',
}

let state: string
let remove: () => Promise<void>
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'sharelock-state-'))
  remove = await writeEnvironmentFile(localStackFile({ XDG_STATE_HOME: state }), VARIABLES)
})
afterEach(() => rm(state, { recursive: true, force: true }))

/** How a call ends that goes to the port where nobody listens. */
const NOBODY = expect.stringContaining('ECONNREFUSED 127.0.0.1:9')

test('the command finds the local stack by itself, and says so', async () => {
  const { code, stderr } = await call(['distributors'], { XDG_STATE_HOME: state, AWS_MAX_ATTEMPTS: '1' })
  expect({ code, stderr }).toEqual({ code: 7, stderr: NOBODY })
  expect(stderr).toContain('No stage is named: this is the local stack.\n')
})

test('the stage local finds it without a word', async () => {
  const { code, stderr } = await call(['distributors', '--stage', 'local'], { XDG_STATE_HOME: state })
  expect({ code, stderr }).toEqual({ code: 7, stderr: NOBODY })
  expect(stderr).not.toContain('No stage is named')
})

test('a stage that is named is never led to it', () => {
  const env = { XDG_STATE_HOME: state, AWS_PROFILE: 'settlement' }
  expect(findLocalStack(env, 'prod')).toBe(false)
  expect(env).toEqual({ XDG_STATE_HOME: state, AWS_PROFILE: 'settlement' })
})

test('addresses that are set stay', () => {
  const env = { XDG_STATE_HOME: state, AWS_ENDPOINT_URL: 'http://127.0.0.1:1' }
  expect(findLocalStack(env, 'local')).toBe(false)
  expect(env).toEqual({ XDG_STATE_HOME: state, AWS_ENDPOINT_URL: 'http://127.0.0.1:1' })
})

test('its own login is used, and not that of a profile', () => {
  const env = { XDG_STATE_HOME: state, AWS_PROFILE: 'settlement' }
  expect(findLocalStack(env, undefined)).toBe(true)
  expect(env).toMatchObject(VARIABLES)
  expect(env).not.toHaveProperty('AWS_PROFILE')
})

test('the file of a process that has ended leads nowhere', async () => {
  await writeFile(localStackFile({ XDG_STATE_HOME: state }), "export SHARELOCK_LOCAL_PROCESS='999999999'\n")
  expect(findLocalStack({ XDG_STATE_HOME: state }, undefined)).toBe(false)
  expect(() => findLocalStack({ XDG_STATE_HOME: state }, 'local')).toThrow(
    'No local stack runs. Start it, in the checkout: npm run local',
  )
})

test('the file is for its user alone, and a stack that stops removes its own file only', async () => {
  const path = localStackFile({ XDG_STATE_HOME: state })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  const removeNewer = await writeEnvironmentFile(path, { ...VARIABLES, AWS_REGION: 'eu-central-1' })
  await remove()
  expect(existsSync(path)).toBe(true)
  await removeNewer()
  expect(existsSync(path)).toBe(false)
})
