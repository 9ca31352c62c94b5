import { afterEach, beforeAll, expect, test } from 'vitest'
import { holdTask } from '../../../support/faults.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'
import { useConsole } from './console-operator.ts'
import { CONTRAST } from './contrast.ts'

/* How the pages read: languages, widths, schemes, names that are code. The browser's own language is Korean here. */
const on = useStack()
const kim = useConsole(on, { locale: 'ko-KR' })

const NAME = `<script>alert('name')</script><img src=x onerror="alert('name')"> & 음반`

let settled: TestSlice
let halted: TestSlice

/** A settled month of a distributor with a name that is code, and a halted one. */
beforeAll(async () => {
  settled = await on().newSlice()
  await on().outside.query('update distributor set name = ? where code = ?', [NAME, settled.distributor])
  await on().run({ ...settled, source: await on().upload(shareFile(40, 81)) })
  halted = await on().newSlice()
  const atChunk = holdTask(on(), 'RegisterChunk', halted)
  const arn = await on().start({ ...halted, source: await on().upload(shareFile(50, 82)) })
  await atChunk.reached
  await on().stop(arn)
  await on().ended(arn)
  atChunk.release()
})

afterEach(() => {
  expect(kim().misdeeds).toEqual([])
})

const pages = (): string[] => [
  '/',
  `/slices/${settled.distributor}/2026-10`,
  `/slices/${halted.distributor}/2026-10`,
  `/slices/${halted.distributor}/2026-10/ask/resume`,
  '/start',
  '/nothing',
]

test('the browser that prefers Korean gets Korean, switches to English, and keeps it', async () => {
  const page = kim().page
  await kim().open('/')
  expect(await page.getAttribute('html', 'lang')).toBe('ko')
  const overview = await kim().text('body')
  for (const word of ['정산월', '유통사', '전체 현황', '파일로 시작', '진행 중', '중단됨', '지연', '완료'])
    expect(overview).toContain(word)
  await kim().openSlice(halted)
  const job = await kim().text('body')
  for (const word of [
    '재개',
    '지분율',
    '중단된 이유',
    '조치 방법',
    '잠금',
    '감사 기록',
    'REGISTERING',
    'ExecutionABORTED',
    `준비되면 계속 진행해 주십시오: sharelock resume --distributor ${halted.distributor} --month 2026-10`,
  ])
    expect(job).toContain(word)
  await kim().open('/slices/NOBODY/2026-10')
  await kim().see(/유통사 코드를 확인해 주십시오/)
  await kim().openSlice(halted)
  await page.getByRole('link', { name: 'English' }).click()
  expect(await page.getAttribute('html', 'lang')).toBe('en')
  await kim().see('Why it stopped')
  await kim().open('/')
  await kim().see('Settlement months')
  await page.getByRole('link', { name: '한국어' }).click()
  await kim().see('정산월')
})

test("a distributor's name that is code is shown as it is written", async () => {
  await kim().open('/')
  await kim().see(NAME)
  await kim().openSlice(settled)
  expect(await kim().text('h1')).toContain(NAME)
  expect(await kim().page.locator('main script, main img').count()).toBe(0)
})

test('an address that asks for something to be said gets none of its own words onto the page', async () => {
  await kim().open(`/slices/${settled.distributor}/2026-10?notice=<b>Hello</b>&job=<b>`)
  expect(await kim().text()).toContain('Job <b> is not among')
  await kim().open(`/slices/${settled.distributor}/2026-10?notice=__proto__`)
  expect(await kim().text()).not.toContain('object')
})

test('no page is wider than a phone', async () => {
  await kim().page.setViewportSize({ width: 390, height: 844 })
  for (const path of pages()) {
    await kim().open(path)
    const [needed, there] = await kim().page.evaluate<number[]>(
      '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
    )
    expect(needed, path).toBeLessThanOrEqual(there ?? 0)
  }
  await kim().page.setViewportSize({ width: 1_280, height: 900 })
})

/** Everything that is read, the quietest included. */
const TEXTS = ['h1', 'h2', 'h3', 'p', 'dt', 'dd', 'th', 'td', 'td a', 'td .line', '.second', '.code', '.unit', 'small']
const MORE_TEXTS = ['.range', '.badge', '.tag', '.button', 'nav a', '.who', '.languages a', 'footer', 'input', 'select']

test.each(['light', 'dark'] as const)(
  'in the %s scheme every text has the contrast that WCAG AA asks for',
  async (scheme) => {
    await kim().page.emulateMedia({ colorScheme: scheme })
    for (const path of pages()) {
      await kim().open(path)
      const selectors = JSON.stringify([...TEXTS, ...MORE_TEXTS])
      const found = await kim().page.evaluate<{ selector: string; ratio: number }[]>(`(${CONTRAST})(${selectors})`)
      expect(found.length).toBeGreaterThan(5)
      expect(
        found.filter(({ ratio }) => ratio < 4.5),
        path,
      ).toEqual([])
    }
    const page = await kim().page.evaluate('getComputedStyle(document.body).backgroundColor')
    expect(page).toBe(scheme === 'dark' ? 'rgb(18, 20, 22)' : 'rgb(246, 246, 244)')
  },
)

test('without its script a page still shows and does everything, and refreshes itself', async () => {
  const page = kim().page
  await page.route('**/console.js', (route) => route.abort())
  await kim().openSlice(halted)
  expect(await page.locator('noscript').textContent()).toContain('http-equiv="refresh"')
  await kim().follow('재개')
  await kim().press('재개')
  await page.unroute('**/console.js')
  await page.reload()
  await kim().see(/registered 50 rows/)
})

test('while a service is out of reach the page says which, asks again, and comes back', async () => {
  const { lambda } = on().stack
  const invoke = lambda.invoke.bind(lambda)
  lambda.invoke = async () => ({ error: { errorType: 'DatabaseUnreachable', errorMessage: 'MySQL does not answer' } })
  try {
    await kim().open('/')
    await kim().see('서비스에 연결할 수 없습니다')
    await kim().see('MySQL does not answer')
  } finally {
    lambda.invoke = invoke
  }
  await kim().see('유통사')
})
