import { type Result, runCell } from './matrix/cell.ts'
import { World } from './matrix/world.ts'
import type { Combination } from './matrix.ts'

/**
 * What a whole run may take, the soak aside: the rest of the cells is reported as not run, which is no success. On two
 * idle cores about 12 minutes, of which those are 2 in which a server is paused for a minute or a task runs out of its
 * time.
 */
const MATRIX_MS_MAX = 20 * 60_000

export type MatrixRun = {
  readonly servers: { readonly mysql: string; readonly valkey: string }
  readonly results: readonly Result[]
  readonly notRun: readonly Combination[]
  readonly ms: number
}

/** The command that runs one cell again. */
export const replayOf = ({ fault, moment }: Pick<Result, 'fault' | 'moment'>): string =>
  `npm run test:faults -- --only ${fault} --moment ${moment}`

const lineOf = (result: Result, number: number, count: number): string => {
  const head = `${String(number).padStart(3)}/${count} ${(result.ms / 1_000).toFixed(1).padStart(5)} s`
  const lines = [`${head}  ${result.fault} @ ${result.moment}: ${result.outcome}`]
  for (const violation of result.violations) lines.push(`        violation: ${violation}`)
  if (result.violations.length > 0) lines.push(`        again: ${replayOf(result)}`)
  return lines.join('\n')
}

/** Works off the cells in worlds side by side; each cell has its world to itself. */
export const runMatrix = async (
  cells: readonly Combination[],
  worldCount: number,
  say: (line: string) => void,
): Promise<MatrixRun> => {
  const startedAt = performance.now()
  const results: Result[] = []
  let servers = { mysql: '', valkey: '' }
  let next = 0
  const isLate = () => performance.now() - startedAt > MATRIX_MS_MAX
  const lane = async (): Promise<void> => {
    const world = await World.start()
    try {
      servers = await world.versions()
      while (next < cells.length && !isLate()) {
        const cell = cells[next++]
        if (cell === undefined) return
        const result = await runCell(world, cell.fault, cell.moment)
        results.push(result)
        say(lineOf(result, results.length, cells.length))
      }
    } finally {
      await world.stop()
    }
  }
  await Promise.all(Array.from({ length: Math.min(worldCount, cells.length) }, lane))
  return { results, servers, notRun: cells.slice(next), ms: performance.now() - startedAt }
}
