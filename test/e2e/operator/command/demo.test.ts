import { expect, test } from 'vitest'
import { DEMO_DISTRIBUTORS } from '../../../../operator/operations/demo/demo-files.ts'
import { useOperator } from '../../../support/operator.ts'
import { useStack } from '../../../support/stack.ts'

const on = useStack()
const operator = useOperator(on)

test('the demonstration registers each distributor but the late one, and a second call leaves them alone', async () => {
  const first = await operator.json<{ registered: number }>('demo', '--months', '1')
  expect(first).toMatchObject({ code: 0, registered: DEMO_DISTRIBUTORS.length - 1 })
  expect(await operator.json('demo', '--months', '1')).toMatchObject({
    code: 0,
    registered: 0,
    kept: DEMO_DISTRIBUTORS.length - 1,
  })
  const { stdout } = await operator.call('list')
  expect(stdout).toMatch(/^ARIA .* settled {2}아리아$/m)
  expect(stdout).toMatch(/^NAMU .* - +나무레코드$/m)
})

test('no other stage takes the demonstration, even with the addresses of a local stack', async () => {
  const { code, stderr } = await operator.call('demo', '--stage', 'prod')
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'The demonstration is for the local stack only, and this stage is prod. Start one: npm run local\n',
  })
})
