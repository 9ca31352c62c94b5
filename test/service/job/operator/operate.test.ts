import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CANONICAL, Profile } from '../../../../functions/contract/profile.ts'
import { KIM, operatorFunctions } from '../../../support/operator-functions.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

/* What operators change, through Lambda's API and the real bundles, beside runs that go on. */
const on = useStack({ relay: true, killOnTimeout: false })
let kim: ReturnType<typeof operatorFunctions>

beforeAll(() => {
  kim = operatorFunctions(on())
})

afterAll(() => kim.close())

const auditOf = (slice: TestSlice) => kim.ask({ question: 'audit', ...slice })

describe('record', () => {
  test('writes who is about to start what, before it is started', async () => {
    const slice = await on().newSlice()
    const request = { action: 'record', what: 'start', ...slice, source: 'incoming/a.csv', ...KIM } as const
    const { id } = await kim.act({ ...request, execution: `${slice.distributor}-1` })
    expect(await auditOf(slice)).toEqual([
      {
        ...{ id, ...KIM, action: 'start', ...slice, job: null, execution: `${slice.distributor}-1` },
        at: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        detail: { source: 'incoming/a.csv' },
      },
    ])
    const arn = `arn:aws:states:ap-northeast-2:000000000000:execution:Job:${slice.distributor}-2`
    await kim.act({ ...request, what: 'undo', execution: arn })
    expect((await auditOf(slice))[0]).toMatchObject({ action: 'undo', execution: `${slice.distributor}-2` })
  })

  test('for a distributor that nobody added is refused', async () => {
    const request = { action: 'record', what: 'start', month: '2026-10', execution: 'x', source: 'y', ...KIM } as const
    await expect(kim.act({ ...request, distributor: 'NOBODY' })).rejects.toMatchObject({ name: 'UnknownDistributor' })
  })
})

describe('put-distributor', () => {
  test('adds one that was not there, changes one that was, and records what changed', async () => {
    const code = `P${Date.now().toString(36)}`
    const fields = {
      code,
      name: '아리아',
      active: true,
      sumRule: 'exact',
      partyScheme: 'ipi',
      replaceMode: 'standby',
    } as const
    const put = (mode: 'add' | 'set', change: object = {}) =>
      kim.act({ action: 'put-distributor', mode, distributor: { ...fields, ...change }, ...KIM })
    await expect(put('set')).rejects.toMatchObject({ name: 'UnknownDistributor' })
    const added = await put('add')
    expect(added).toEqual({ id: expect.any(Number), ...fields, overClaim: 'refuse' })
    await expect(put('add', { name: 'again' })).rejects.toMatchObject({ name: 'DistributorExists' })
    expect(await put('set', { active: false })).toEqual({ ...added, active: false })
    const all = await kim.ask({ question: 'distributors' })
    expect(all.filter((each) => each.code === code)).toEqual([{ ...added, active: false }])
    const { code: _, ...values } = fields
    expect(await kim.ask({ question: 'audit', distributor: code })).toMatchObject([
      { ...KIM, action: 'set-distributor', month: null, detail: { ...values, active: false, activeBefore: true } },
      { ...KIM, action: 'add-distributor', month: null, detail: values },
    ])
  })
})

describe('set-profile', () => {
  const set = (distributor: string, profile: object, why: string) =>
    kim.act({ action: 'set-profile', distributor, profile, ...KIM, why })

  test('adds a version that counts from then on, keeps those before, and records who set it', async () => {
    const { distributor } = await on().newSlice()
    const none = await kim.ask({ question: 'profile', distributor })
    expect(none).toEqual({ distributor, version: 0, profile: CANONICAL, versions: [] })
    const first = await set(distributor, { format: { kind: 'tsv' } }, 'tabs')
    expect(first).toMatchObject({ version: 1, profile: { ...CANONICAL, format: { kind: 'tsv' } } })
    const korean = { columns: { share: ['지분율'] }, shareUnit: 'fraction' }
    await set(distributor, korean, '한국어')
    const second = await set(distributor, korean, 'the same again')
    expect(second).toMatchObject({ version: 2, profile: Profile.parse(korean) })
    expect(second.versions).toMatchObject([
      { version: 2, setBy: KIM.caller, why: '한국어', setAt: expect.stringMatching(/^20/) },
      { version: 1, setBy: KIM.caller, why: 'tabs' },
    ])
    const before = await kim.ask({ question: 'profile', distributor, version: 1 })
    expect(before).toEqual({ ...first, versions: second.versions })
    expect(await kim.ask({ question: 'audit', distributor })).toMatchObject([
      {
        action: 'set-profile',
        why: '한국어',
        detail: {
          version: 2,
          profile: JSON.stringify({ columns: Profile.parse(korean).columns, shareUnit: 'fraction' }),
        },
      },
      { action: 'set-profile', why: 'tabs', detail: { version: 1 } },
    ])
  })

  test('gives each of several at a time a version of its own', async () => {
    const { distributor } = await on().newSlice()
    const sets = [1, 2, 3, 4].map((rowsBeforeHeader) => set(distributor, { rowsBeforeHeader }, 'race'))
    await Promise.all(sets)
    const { versions } = await kim.ask({ question: 'profile', distributor })
    expect(versions.map(({ version }) => version)).toEqual([4, 3, 2, 1])
  })

  test('refuses a profile that says nothing clear, an unknown distributor, and an unknown version', async () => {
    const { distributor } = await on().newSlice()
    const twice = { columns: { share: ['isrc'] } }
    await expect(set(distributor, twice, '')).rejects.toMatchObject({ name: 'InvalidInput' })
    await expect(set('NOBODY', {}, '')).rejects.toMatchObject({ name: 'UnknownDistributor' })
    const missing = kim.ask({ question: 'profile', distributor, version: 7 })
    await expect(missing).rejects.toMatchObject({ name: 'InvalidInput' })
  })
})

test.each([
  ['an action that does not exist', { action: 'drop', caller: 'kim' }],
  ['a change without a caller', { action: 'stop', job: 1 }],
  ['a field too many', { action: 'stop', job: 1, caller: 'kim', force: true }],
  [
    'a token in place of its digest',
    { action: 'unlock', caller: 'kim', distributor: 'A', month: '2026-10', tokenDigest: 'a/1' },
  ],
])('%s is refused at the door', async (_, request) => {
  await expect(kim.act(request as never)).rejects.toMatchObject({ name: 'InvalidInput' })
})
