import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { SLICE_ROWS_PLANNED } from '../../../functions/contract/limits.ts'
import { scalePage } from '../../../infra/scale/page.ts'
import { limitsOf, runCost, SIZES } from '../../../infra/scale/scale.ts'
import { execute, inputsOf } from '../machine/engine.ts'
import { definitionOf, jobTemplate } from '../synth.ts'

const LANES = 2

describe('docs/scale.md', () => {
  test('is what the constants give; if not: node bin/scale.ts', () => {
    expect(readFileSync('docs/scale.md', 'utf8')).toBe(scalePage())
  })
})

describe('the figures', () => {
  test('of transitions and events are those of the definition', async () => {
    const cost = runCost(800_000, LANES)
    const items = Array.from({ length: cost.itemsPerPhase }, (_, from) => ({ from, to: from }))
    const plan = () => ({ chunks: cost.chunks, items })
    const run = await execute(definitionOf(jobTemplate()), { PlanDelete: plan, BeginRegistering: plan })
    const itemCalls = inputsOf(run, 'DeleteChunk').length + inputsOf(run, 'RegisterChunk').length
    expect(cost.transitions).toBe(run.path.length + itemCalls)
    expect(cost.requests).toBe(run.calls.length)
    const events = { Task: 5, Pass: 2, Choice: 2, Succeed: 2, Map: 4 } as Record<string, number>
    const plain = run.inputs.reduce((sum, { type }) => sum + (events[type] ?? Number.NaN), 2)
    expect(cost.events).toBe(plain + itemCalls * 7)
  })

  test('grow with the rows, and history does not beyond its bound', () => {
    const [small, , large] = SIZES.map((rows) => runCost(rows, LANES))
    expect(large?.usd).toBeGreaterThan(small?.usd ?? Number.NaN)
    expect(runCost(1_000_000_000, LANES).events).toBeLessThan(20_000)
  })

  test('the largest planned slice stays within every limit', () => {
    for (const { limit, share } of limitsOf(runCost(SLICE_ROWS_PLANNED, LANES)))
      expect(share, limit).toBeLessThanOrEqual(1)
  })
})
