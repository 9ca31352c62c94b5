import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { beforeTask } from '../../../support/faults.ts'
import { expectHalted, expectSettled, fingerprintOf, jobsOf } from '../../../support/invariants.ts'
import { named, useOperator } from '../../../support/operator.ts'
import { replaceInPlace } from '../../../support/replace-mode.ts'
import { type ShareFile, shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

/*
 * Holes in staged sources as an operator meets them: each is made, the remedy that the command or doctor prints is
 * typed word for word (with a path for FILE, and the confirmation that a large change asks for), and the rows are
 * exact.
 */
const on = useStack()
const operator = useOperator(on)

/** Two files that no other test has: a hole in a set is one of every month that has the set. */
let seed = 900
const newFiles = (): [ShareFile, ShareFile] => [shareFile(400, seed++), shareFile(300, seed++)]

type Finding = { readonly check: string; readonly severity: string; readonly what: string; readonly remedy: string }

const confirmed = ({ distributor, month }: TestSlice): string[] => ['--confirm', `${distributor} ${month}`]
const keyOf = (digest: string, number = 0): string => `staged/${digest}/00000${number}.tsv`
const remove = async (Key: string): Promise<void> =>
  void (await on().s3.send(new DeleteObjectCommand({ Bucket: on().stack.aws.bucket, Key })))
/** Another party in as many bytes. */
const change = async (key: string): Promise<void> =>
  await on().put(
    key,
    (await on().get(key)).replace(/\d\t\d+\.\d+\n/, (end) => (end.startsWith('1') ? '2' : '1') + end.slice(1)),
  )

/** What of a sentence is a command to type. */
const commandIn = (text: string): string => /sharelock start .*$/.exec(text)?.[0] ?? text

/** Types a command as it was printed, and says yes to what it shows. */
const type = (printed: string, path: string, ...more: string[]) =>
  operator.json(
    ...commandIn(printed)
      .split(' ')
      .slice(1)
      .map((word) => (word === 'FILE' ? path : word)),
    '--yes',
    ...more,
  )

const holes = async (): Promise<readonly Finding[]> => {
  const { findings } = await operator.json<{ findings: readonly Finding[] }>('doctor', '--month', '2026-10')
  return findings.filter(({ check }) => check === 'staged-source-damaged')
}
const onlyHole = async (): Promise<Finding> => {
  const found = await holes()
  expect(found, JSON.stringify(found)).toHaveLength(1)
  return found[0] as Finding
}

/** These files are registered by the operator's command, one after another. */
/** No slot of it keeps a set that was replaced, so an undo registers it anew. */
const inPlace = async (): Promise<TestSlice> => {
  const slice = await on().newSlice()
  await replaceInPlace(on(), slice)
  return slice
}

const settled = async (...files: ShareFile[]) => await settledOn(await on().newSlice(), files)

const settledOn = async (slice: TestSlice, files: readonly ShareFile[]) => {
  const paths: string[] = []
  for (const file of files) {
    const path = await operator.file(`${slice.distributor}-${paths.length}.csv`, file)
    expect(await operator.json('start', ...named(slice), '--file', path, ...confirmed(slice))).toMatchObject({
      code: 0,
    })
    paths.push(path)
  }
  const digests = (await jobsOf(on(), slice)).toSorted((a, b) => a.id - b.id).map(({ source_digest }) => source_digest)
  return { slice, paths, digests }
}

test.each([
  ['is gone', remove, 'is missing'],
  ['was changed in place', change, 'is not what its manifest promises'],
])(
  'an object of a registered set that %s is found, and its upload started again heals the copy and touches no row',
  async (_, damage, problem) => {
    const [, now] = newFiles()
    const { slice, digests } = await settled(now)
    const key = keyOf(digests[0] ?? '')
    const whole = await on().get(key)
    await damage(key)
    const { severity, what, remedy } = await onlyHole()
    expect({ severity, what }).toEqual({
      severity: 'error',
      what: expect.stringContaining(`${key} ${problem}. No undo could bring its rows back later.`),
    })
    expect(remedy).toMatch(
      new RegExp(
        `^sharelock start ${named(slice).join(' ')} --source incoming/operators/${slice.distributor}/2026-10/`,
      ),
    )
    const end = { result: expect.stringMatching(/^changed nothing/) }
    expect(await type(remedy, '')).toMatchObject({ code: 0, plan: { alreadyRegistered: true }, end })
    expect(await on().get(key)).toBe(whole)
    expect(await holes()).toEqual([])
    expect(await jobsOf(on(), slice)).toHaveLength(1)
    await expectSettled(on(), slice, now)
  },
)

test('a registered set whose manifest is gone, and whose upload nobody can be sure of, is healed by the file itself', async () => {
  const [, now] = newFiles()
  const slice = await on().newSlice()
  const { output } = await on().run({ ...slice, source: await on().upload(now) })
  await remove(`staged/${output.staged?.digest}/manifest.json`)
  const { what, remedy } = await onlyHole()
  expect(what).toContain('manifest.json is missing')
  expect(remedy).toBe(`sharelock start ${named(slice).join(' ')} --file FILE`)
  expect(await type(remedy, await operator.file('itself.csv', now))).toMatchObject({ code: 0 })
  expect(await holes()).toEqual([])
  await expectSettled(on(), slice, now)
})

test('an undo to a set with a hole is refused before it starts, and doctor names the file that brings the set back', async () => {
  const [old, now] = newFiles()
  const { slice, digests } = await settled(old, now)
  const key = keyOf(digests[0] ?? '')
  await remove(key)
  const refused = await operator.json('undo', ...named(slice), ...confirmed(slice))
  expect(refused).toMatchObject({ error: 'Rejected', message: expect.stringContaining(`${key} is missing`) })
  await expectSettled(on(), slice, now)
  const { severity, remedy } = await onlyHole()
  expect(severity).toBe('warning')
  expect(await type(remedy, '', ...confirmed(slice))).toMatchObject({ code: 0, end: { status: 'SUCCEEDED' } })
  await expectSettled(on(), slice, old)
  expect(await holes()).toEqual([])
})

test("a set that today's rules refuse is shown as refused, and no undo is started", async () => {
  const [old, now] = newFiles()
  const { slice } = await settled(old, now)
  expect(
    await operator.json('distributors', 'set', slice.distributor, '--party-scheme', 'ipi', '--why', 'a new contract'),
  ).toMatchObject({ code: 0 })
  const refused = await operator.json('undo', ...named(slice), ...confirmed(slice))
  expect(refused).toMatchObject({ error: 'Rejected', plan: { validation: { accepted: false } }, started: null })
  await expectSettled(on(), slice, now)
})

test.each([
  ['PlanDelete', 'DELETING'],
  ['BeginRegistering', 'REGISTERING'],
  ['RegisterChunk', 'REGISTERING'],
] as const)(
  'an object that goes before %s halts the run, and the command that it prints registers the file',
  async (task, state) => {
    const [old, now] = newFiles()
    const { slice, paths } = await settled(old)
    const path = await operator.file(`${slice.distributor}-new.csv`, now)
    const staged = await on().run({ ...(await on().newSlice()), source: await on().upload(now) })
    const key = keyOf(staged.output.staged?.digest ?? '')
    beforeTask(on(), task, slice, () => remove(key))
    const halted = await operator.json<{ end: { failure: { error: string; cause: string; remedy: string } } }>(
      'start',
      ...named(slice),
      '--file',
      path,
      ...confirmed(slice),
    )
    const { error, cause, remedy } = halted.end.failure
    expect({ error, cause }).toEqual({
      error: 'StagedSourceDamaged',
      cause: expect.stringContaining(`${key} is missing`),
    })
    await expectHalted(on(), slice, state, 'StagedSourceDamaged')
    expect(await fingerprintOf(on(), slice), 'readers have the old set').toBe(old.fingerprint)

    // A resume is refused, and nothing moves on; both say the same command, and so does doctor.
    const refused = await operator.json<{ end: { failure: { remedy: string } } }>('resume', ...named(slice))
    expect(refused.end.failure.remedy).toBe(remedy)
    const found = (await holes()).find(({ what }) => what.includes(`of ${slice.distributor} 2026-10`))
    expect(found?.what).toContain('The job cannot go on')
    expect(commandIn(remedy)).toBe(`sharelock start ${named(slice).join(' ')} --file FILE`)
    expect(found?.remedy).toMatch(/--source incoming\/operators\//)

    // Another file is no remedy, and is told so.
    const other = await type(remedy, paths[0] ?? '', ...confirmed(slice))
    expect(other).toMatchObject({ error: 'Busy', message: expect.stringContaining('--supersede') })
    expect(
      await type(task === 'RegisterChunk' ? (found?.remedy ?? '') : remedy, path, ...confirmed(slice)),
    ).toMatchObject({
      code: 0,
      end: { status: 'SUCCEEDED' },
    })
    await expectSettled(on(), slice, now)
    expect(await holes()).toEqual([])
  },
)

test('a halted undo with a hole goes on with the file of its set', async () => {
  const [old, now] = newFiles()
  const { slice, paths, digests } = await settledOn(await inPlace(), [old, now])
  beforeTask(on(), 'RegisterChunk', slice, () => remove(keyOf(digests[0] ?? '')))
  const halted = await operator.json<{ end: { failure: { remedy: string } } }>(
    'undo',
    ...named(slice),
    ...confirmed(slice),
  )
  await expectHalted(on(), slice, 'REGISTERING', 'StagedSourceDamaged')
  expect(await type(halted.end.failure.remedy, paths[0] ?? '', ...confirmed(slice))).toMatchObject({ code: 0 })
  await expectSettled(on(), slice, old)
})
