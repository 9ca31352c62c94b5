import { describe, expect, test } from 'vitest'
import { jobsOf, rowsOf } from '../../../support/invariants.ts'
import { KIM } from '../../../support/operator-functions.ts'
import { FILE, OLD, TIME, useInspect } from './use-inspect.ts'

const { kim, on, registered } = useInspect()

describe('the deployment', () => {
  test("is the stage's machines and bucket", async () => {
    const { machineArn, machineArns, aws } = on().stack
    expect(await kim().ask({ question: 'deployment' })).toEqual({
      stage: 'local',
      stateMachineArn: machineArn,
      dispatchMachineArn: machineArns.DispatchStateMachine,
      bucket: aws.bucket,
    })
  })
})

describe('the slices', () => {
  test('of some months are one line each, of the newest job, newest month first', async () => {
    const slice = await on().newSlice('2031-02')
    const earlier = { ...slice, month: '2031-01' }
    const outside = { ...slice, month: '2030-12' }
    for (const [each, file] of [
      [slice, OLD],
      [slice, FILE],
      [earlier, FILE],
      [outside, FILE],
    ] as const)
      await on().run({
        ...each,
        source: await on().upload(file),
        requestedBy: 'lee',
        confirmed: ['same-as-month', 'row-count'],
      })
    const [newest] = await jobsOf(on(), slice)
    const lines = await kim().ask({ question: 'slices', from: '2031-01', to: '2031-02' })
    expect(lines.map(({ distributor, month }) => ({ distributor, month }))).toEqual([slice, earlier])
    expect(lines[0]).toEqual({
      ...{ ...slice, job: newest?.id, state: 'REGISTERED', status: 'settled', fence: 2, execution: newest?.execution },
      ...{ requestedBy: 'lee', rows: FILE.rows, haltedAt: null, haltError: null },
      ...{ openedAt: TIME, registeredAt: TIME },
    })
  })

  test.each([
    ['that end before they begin', '2031-02', '2031-01'],
    ['of more months than an answer takes', '2031-01', '2033-01'],
  ])('%s are refused', async (_, from, to) => {
    await expect(kim().ask({ question: 'slices', from, to })).rejects.toMatchObject({ name: 'InvalidInput' })
  })
})

describe('the rows', () => {
  test('of a slice are counted and summed exactly', async () => {
    const slice = await registered()
    const { jobs } = await kim().ask({ question: 'slice', ...slice })
    const { rows, shareSum } = jobs[0]?.source ?? {}
    expect(await kim().ask({ question: 'rows', ...slice })).toEqual({ rows, shareSum })
    expect(rows).toBe(await rowsOf(on(), slice))
    const empty = await on().newSlice()
    expect(await kim().ask({ question: 'rows', ...empty })).toEqual({ rows: 0, shareSum: '0.000000' })
  })
})

describe('the audit trail', () => {
  test('is told newest first, of everything, a distributor, a month or a slice, up to a limit', async () => {
    const slice = await on().newSlice('2032-01')
    const other = { ...slice, month: '2032-02' }
    const neighbour = await on().newSlice('2032-01')
    const ids: number[] = []
    for (const [index, each] of [slice, other, neighbour, slice].entries()) {
      const request = { action: 'record', what: 'start', ...each, source: 'incoming/a.csv', ...KIM } as const
      ids.push((await kim().act({ ...request, execution: `run-${index}` })).id)
    }
    const [first, second, third, fourth] = ids
    const told = async (filter: object) => (await kim().ask({ question: 'audit', ...filter })).map(({ id }) => id)
    expect(await told({ limit: 3 })).toEqual([fourth, third, second])
    expect(await told({ distributor: slice.distributor })).toEqual([fourth, second, first])
    expect(await told({ month: '2032-01' })).toEqual([fourth, third, first])
    expect(await told(slice)).toEqual([fourth, first])
    expect(await told({ ...slice, limit: 1 })).toEqual([fourth])
  })
})

test.each([
  ['a question that does not exist', { question: 'secrets' }],
  ['a field too many', { question: 'deployment', token: true }],
  ['more lines than an answer takes', { question: 'audit', limit: 501 }],
])('%s is refused at the door', async (_, request) => {
  await expect(kim().ask(request as never)).rejects.toMatchObject({ name: 'InvalidInput' })
})
