import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { jobsOf } from '../../../support/invariants.ts'
import { named, useOperator } from '../../../support/operator.ts'
import { type ShareFile, shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

/* The exact rows of a job, and how those of two jobs differ, whatever the table holds by now. */
const on = useStack()
const operator = useOperator(on)
const FILE = shareFile(400, 61)

/** FILE with one row more, one less, and one with another share. */
const [gone = '', halved = '', ...others] = FILE.lines
const smaller = halved.replace(/[^\t]+$/, '0.500000')
const added = 'ZZZ992600001\tPERFORMANCE\tKOMCA.X\t12.500000'
const CORRECTED_LINES = [smaller, ...others, added]
const csvOf = (lines: readonly string[]): string =>
  `isrc,right_type,party_id,share\n${lines.map((line) => line.replaceAll('\t', ',')).join('\n')}\n`
const CORRECTED: Pick<ShareFile, 'csv'> = { csv: csvOf(CORRECTED_LINES) }

/** A slice whose first job registered FILE, and whose second registered the corrected one. */
const twice = async (): Promise<{ slice: TestSlice; first: string; second: string }> => {
  const slice = await on().newSlice()
  expect(await on().run({ ...slice, source: await on().upload(FILE) })).toMatchObject({ status: 'SUCCEEDED' })
  expect(await on().run({ ...slice, source: await on().upload(CORRECTED as ShareFile) })).toMatchObject({
    status: 'SUCCEEDED',
  })
  const [first, second] = (await jobsOf(on(), slice)).map(({ id }) => String(id)).sort((a, b) => Number(a) - Number(b))
  return { slice, first: first ?? '', second: second ?? '' }
}

/** The rows of a canonical CSV as staged lines. */
const linesOf = (csv: string): string[] =>
  csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [isrc, right, party, share = ''] = line.split(',')
      const [whole, decimals = ''] = share.split('.')
      return [isrc, right, party, `${whole}.${decimals.padEnd(6, '0')}`].join('\t')
    })

const pathBeside = async (name: string): Promise<string> => `${dirname(await operator.file('here', FILE))}/${name}`

test('a set that was replaced is exported as it was, packed or not, with the digest of the file', async () => {
  const { slice, first } = await twice()
  const path = await pathBeside('first.csv')
  const told = await operator.json<{ digest: string; sha256: string; bytes: number }>('export', first, '-o', path)
  const csv = await readFile(path)
  expect(linesOf(csv.toString()).sort()).toEqual(FILE.lines)
  expect(told).toMatchObject({ code: 0, ...slice, job: Number(first), rows: 400, output: path, bytes: csv.length })
  expect(told.sha256).toBe(createHash('sha256').update(csv).digest('hex'))

  const packed = await pathBeside('first.csv.gz')
  const { code, stdout } = await operator.call('export', first, '--output', packed)
  expect(code).toBe(0)
  expect(gunzipSync(await readFile(packed)).equals(csv)).toBe(true)
  expect(stdout).toContain(`start it again  sharelock start ${named(slice).join(' ')} --source ${told.digest}`)

  const piped = await operator.call('export', first)
  expect(piped.stdout).toBe(csv.toString())
  expect(piped.stderr).toContain(told.sha256)
})

test('start reads an exported set again as the same staged source', async () => {
  const { slice, first, second } = await twice()
  for (const [job, isRegistered] of [
    [second, true],
    [first, false],
  ] as const) {
    const path = await pathBeside(`again-${job}.csv.gz`)
    const { digest } = await operator.json<{ digest: string }>('export', job, '-o', path)
    const again = await operator.json('start', ...named(slice), '--yes', '--file', path)
    expect(again).toMatchObject({
      code: 0,
      plan: { alreadyRegistered: isRegistered, validation: { summary: { digest } } },
    })
  }
})

test('an export that cannot be whole leaves no file, and one that is there is not replaced', async () => {
  const { first, second } = await twice()
  const path = await pathBeside('kept.csv')
  await operator.json('export', first, '-o', path)
  const before = await readFile(path)
  expect(await operator.json('export', second, '-o', path)).toMatchObject({ code: 2, error: 'Usage' })
  expect((await readFile(path)).equals(before)).toBe(true)

  expect(await operator.json('export', '999999', '-o', await pathBeside('none.csv'))).toMatchObject({ code: 8 })
})

test('a set with a damaged object ends the export, and leaves no file', async () => {
  const slice = await on().newSlice()
  const { output } = await on().run({ ...slice, source: await on().upload(shareFile(40, 62)) })
  const key = `staged/${output.staged?.digest}/000000.tsv`
  const body = await on().get(key)
  await on().put(key, body.replace('KR', 'XX'))
  const [job] = await jobsOf(on(), slice)
  const path = await pathBeside('damaged.csv')
  const ended = await operator.json('export', String(job?.id), '-o', path)
  expect(ended).toMatchObject({ code: 3, error: 'Rejected', message: expect.stringContaining(key) })
  await expect(stat(path)).rejects.toThrow('ENOENT')
  expect((await readdir(dirname(path))).filter((name) => name.endsWith('.part'))).toEqual([])
})

test('two sets differ by exactly the rows that differ, the largest first, and by their parties', async () => {
  const { first, second } = await twice()
  const [rows, parties] = [await pathBeside('rows.csv'), await pathBeside('parties.csv')]
  const found = await operator.json('diff', first, second, '--output', rows, '--parties', parties)
  expect(found).toMatchObject({ code: 0, added: 1, removed: 1, changed: 1, unchanged: 398 })
  const shares = { gone: gone.split('\t')[3] ?? '', halved: halved.split('\t')[3] ?? '' }
  const written = (await readFile(rows, 'utf8')).trimEnd().split('\n')
  expect(written).toEqual([
    'change,isrc,right_type,party_id,share_before,share_after,difference',
    `removed,${gone.split('\t').slice(0, 3)},${shares.gone},,-${shares.gone}`,
    `changed,${halved.split('\t').slice(0, 3)},${shares.halved},0.500000,${(0.5 - Number(shares.halved)).toFixed(6)}`,
    'added,ZZZ992600001,PERFORMANCE,KOMCA.X,,12.500000,12.500000',
  ])
  expect(await readFile(parties, 'utf8')).toContain('\nKOMCA.X,1,0.000000,12.500000,12.500000\n')

  for (const [output, why] of [
    [rows, 'it is there already'],
    [`${rows}/none.csv`, 'ENOTDIR'],
  ] as const)
    expect(await operator.json('diff', first, second, '--output', output)).toMatchObject({
      ...{ code: 2, error: 'Usage' },
      message: expect.stringContaining(`${output} cannot be written: ${why}`),
    })
  const backwards = await operator.json('diff', second, first)
  expect(backwards).toMatchObject({ added: 1, removed: 1, changed: 1, partiesChanged: 3 })
  const { stdout } = await operator.call('diff', first, second)
  expect(stdout).toMatch(/difference +1 added, 1 removed, 1 changed, 398 unchanged\nThe largest changes\n/)
  expect(stdout).toMatch(/ZZZ992600001 +PERFORMANCE +KOMCA\.X +- +12\.500000 +12\.500000/)
})
