import { gunzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { jobsOf } from '../../../support/invariants.ts'
import { type ShareFile, shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import { useConsole } from './console-operator.ts'

/* A job's rows in the console: saved as they were, and compared with another job's. */
const on = useStack()
const kim = useConsole(on)
const FILE = shareFile(60, 71)
const MORE: Pick<ShareFile, 'csv'> = { csv: `${FILE.csv}ZZZ992600001,PERFORMANCE,KOMCA.X,12.5\n` }

afterEach(() => {
  expect(kim().misdeeds).toEqual([])
})

const download = async (name: string) => {
  const address = await kim().page.getByRole('link', { name }).getAttribute('href')
  const answer = await kim().page.request.get(`${kim().origin}${address}`)
  expect(answer.headers()['content-disposition']).toContain('attachment')
  return await answer.body()
}

test("a job's rows are saved, and two jobs are compared row by row", async () => {
  const slice = await on().newSlice()
  for (const file of [FILE, MORE]) await on().run({ ...slice, source: await on().upload(file) })
  const [first, second] = (await jobsOf(on(), slice)).map(({ id }) => id).sort((a, b) => a - b)
  await kim().open(`/slices/${slice.distributor}/2026-10?job=${first}`)
  expect(
    gunzipSync(await download('Save these rows'))
      .toString()
      .split('\n'),
  ).toHaveLength(FILE.rows + 2)
  await kim().openSlice(slice)
  await kim().press('Compare')
  await kim().see(`Job ${first} and job ${second}`)
  await kim().see('ZZZ992600001')
  expect((await download('All rows that differ')).toString()).toBe(
    'change,isrc,right_type,party_id,share_before,share_after,difference\nadded,ZZZ992600001,PERFORMANCE,KOMCA.X,,12.500000,12.500000\n',
  )
})

test('a job that does not exist has no rows', async () => {
  await kim().open('/compare?before=1&after=999999')
  await kim().see('No job has the number 999999')
})

test('the page of a plan shows the rows that a start would change, and saves all of them', async () => {
  const slice = await on().newSlice()
  await on().run({ ...slice, source: await on().upload(FILE) })
  await kim().check(slice, MORE)
  await kim().see('Largest changes')
  await kim().see('ZZZ992600001')
  expect((await download('All rows that differ')).toString()).toContain(
    '\nadded,ZZZ992600001,PERFORMANCE,KOMCA.X,,12.5',
  )
  expect((await download('All parties')).toString()).toContain('\nKOMCA.X,1,0.000000,12.500000,12.500000\n')
  expect(await jobsOf(on(), slice)).toHaveLength(1)
})
