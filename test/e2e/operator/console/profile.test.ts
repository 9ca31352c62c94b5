import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { useStack } from '../../../support/stack.ts'
import { useConsole } from './console-operator.ts'

/* A distributor's profile in the console: proposed from a file, tried, set, and read by. */
const on = useStack()
const kim = useConsole(on)

const KOREAN = '정산\nISRC코드;권리구분;수취인;지분율\nKRA012600001;PERF;A;33,5\nKRA012600001;PERF;B;66,5\n합계;;;100\n'

const choose = (text: string): Promise<void> =>
  kim()
    .page.getByLabel('A file as the distributor sends it')
    .setInputFiles({ name: '정산.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })

const textOfForm = (): Promise<string> => kim().page.getByLabel('Profile (JSON)').inputValue()

test('a profile is proposed from a file, corrected, tried and set, and the next file is read by it', async () => {
  const slice = await on().newSlice()
  const { distributor } = slice
  const path = `/distributors/${distributor}/profile`
  await kim().open('/')
  await kim().follow(distributor)
  await kim().see('No profile is set: the files are canonical CSV.')
  expect(await textOfForm()).toBe('{}')
  await choose(KOREAN)
  await kim().press('Propose from the file')
  await kim().see('Shares are written as percent: the largest is 66.5, and those of a track come to 100.')
  const cells = await kim().page.locator('#preview + div td').allTextContents()
  expect(cells.join(' ')).toBe('3 KRA012600001 PERF A 33.500000 4 KRA012600001 PERF B 66.500000')
  const proposed = JSON.parse(await textOfForm())
  expect(proposed).toMatchObject({ decimalSign: ',', rowsAfterData: 1, columns: { share: ['지분율'] } })
  await kim()
    .page.getByLabel('Profile (JSON)')
    .fill(JSON.stringify({ ...proposed, decimalSign: '.' }))
  await choose(KOREAN)
  await kim().press('Try on the file')
  await kim().see(/has a decimal comma/)
  await kim().page.getByLabel('Profile (JSON)').fill(JSON.stringify(proposed))
  await kim().page.getByLabel('Why (for the audit trail)').fill('쉼표')
  await kim().press('Set this profile')
  await kim().see('The profile is set. It counts from the next file on.')
  expect(await kim().text('#versions + div tbody')).toMatch(/^1.+쉼표$/)
  await kim().check(slice, { csv: KOREAN })
  await kim().see(/^Replace /)
  await kim().open(`${path}?lang=ko`)
  await kim().see(`${distributor} 파일의 작성 방식`)
  await kim().open(`${path}?lang=en`)
  expect(await readdir(kim().folder)).toHaveLength(1)
  expect(kim().misdeeds).toEqual([])
})

test('what is no profile, no file or no distributor comes back with its reason, and what was typed stays', async () => {
  const { distributor } = await on().newSlice()
  await kim().open(`/distributors/${distributor}/profile`)
  await kim().page.getByLabel('Profile (JSON)').fill('{"shareUnit":"promille"}')
  await kim().press('Set this profile')
  await kim().see(/is no profile\. shareUnit: /)
  expect(await textOfForm()).toBe('{"shareUnit":"promille"}')
  await kim().press('Propose from the file')
  await kim().see(/Choose a file first\./)
  await choose('nothing')
  await kim().press('Propose from the file')
  await kim().see(/No profile can be proposed: /)
  await kim().open('/distributors/NOBODY/profile')
  await kim().see(/No distributor has the code NOBODY/)
})
