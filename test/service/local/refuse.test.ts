import { expect, test } from 'vitest'
import type { Definition } from '../../../local/engine/definition.ts'
import { createMachine } from '../../../local/engine/machine.ts'

const ARN = 'arn:aws:states:ap-northeast-2:000000000000:stateMachine:Job'
const RESOURCE = 'arn:aws:lambda:ap-northeast-2:000000000000:function:Work:1'

const load =
  (states: object, more: object = {}) =>
  () =>
    createMachine(ARN, { StartAt: Object.keys(states)[0], States: states, ...more } as Definition)
const work = (more: object) => ({ Work: { Type: 'Task', Resource: RESOURCE, End: true, ...more } })
const map = (more: object, inner: object = work({})) => ({
  Map: { Type: 'Map', ItemProcessor: { StartAt: Object.keys(inner)[0], States: inner }, End: true, ...more },
})

test('a plain definition is loaded', () => {
  expect(load(map({ ItemSelector: { 'v.$': '$$.Map.Item.Value', 'id.$': '$$.Execution.Id' } }))().name).toBe('Job')
})

test.each([
  ['JSONata for the machine', load(work({}), { QueryLanguage: 'JSONata' }), 'QueryLanguage'],
  ['JSONata for a state', load(work({ QueryLanguage: 'JSONata', Output: '{% 1 %}' })), 'QueryLanguage'],
  ['variables', load(work({ Assign: { a: 1 } })), 'Assign'],
  ['a heartbeat', load(work({ HeartbeatSeconds: 10 })), 'HeartbeatSeconds'],
  ['a heartbeat inside a Map', load(map({}, work({ HeartbeatSeconds: 10 }))), 'HeartbeatSeconds'],
  [
    'a Distributed Map',
    load({
      Map: {
        Type: 'Map',
        End: true,
        ItemProcessor: {
          ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
          StartAt: 'Work',
          States: work({}),
        },
      },
    }),
    'Distributed Map',
  ],
  ['a reader of a Distributed Map', load(map({ ItemReader: {} })), 'ItemReader'],
  ['a Map inside a Map', load(map({}, { Inner: map({}).Map })), 'nested'],
  ['two states of one name', load({ ...map({}), Work: { Type: 'Succeed' } }), 'two states'],
  ['the entered time of a state', load(work({ Parameters: { 't.$': '$$.State.EnteredTime' } })), '$$.State'],
  ["a Map's item outside its selector", load(map({}, work({ Parameters: { 'i.$': '$$.Map.Item.Index' } }))), '$$.Map'],
  ['a falsy result', load({ Pass: { Type: 'Pass', Result: false, End: true } }), 'Result false'],
  ['a timer beyond 31 bits', load(work({ TimeoutSeconds: 99_999_999 })), 'TimeoutSeconds'],
  ['an unknown integration', load(work({ Resource: 'arn:aws:states:::dynamodb:getItem' })), 'not emulated'],
  [
    'the older way of waiting for a nested execution',
    load(work({ Resource: 'arn:aws:states:::states:startExecution.sync' })),
    'not emulated',
  ],
])('%s is refused with a sentence', (_, loading, word) => {
  expect(loading).toThrow(word)
  expect(loading).toThrow('The local engine cannot run Job')
})
