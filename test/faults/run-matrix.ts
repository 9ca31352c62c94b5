import type { Combination } from './matrix/combination.ts'
import { FaultLab } from './matrix/fault-lab.ts'
import { type Result, runTrial } from './matrix/trial.ts'

/**
 * What a whole run may take, the soak aside: the rest of the trials is reported as not run, which is no success. A trial takes
 * 2 to 6 s where the machine does nothing else, and a minute where a server is paused or a task runs out of its time.
 */
const MATRIX_MS_MAX = 30 * 60_000

export type MatrixRun = {
  readonly servers: { readonly mysql: string; readonly valkey: string }
  readonly results: readonly Result[]
  readonly notRun: readonly Combination[]
  readonly ms: number
}

/** The command that runs one trial again. */
export const replayOf = ({ fault, moment, beginning }: Pick<Result, 'fault' | 'moment' | 'beginning'>): string =>
  `npm run test:faults -- --only ${fault} --moment ${moment} --beginning ${beginning}`

const lineOf = (result: Result, number: number, count: number): string => {
  const head = `${String(number).padStart(3)}/${count} ${(result.ms / 1_000).toFixed(1).padStart(5)} s`
  const lines = [`${head}  ${result.fault} @ ${result.moment} (${result.beginning}): ${result.outcome}`]
  for (const violation of result.violations) lines.push(`        violation: ${violation}`)
  if (result.violations.length > 0) lines.push(`        again: ${replayOf(result)}`)
  return lines.join('\n')
}

/** Works off the trials in labs side by side; each trial has its lab to itself. */
export const runMatrix = async (
  trials: readonly Combination[],
  labCount: number,
  say: (line: string) => void,
): Promise<MatrixRun> => {
  const startedAt = performance.now()
  const results: Result[] = []
  let servers = { mysql: '', valkey: '' }
  let next = 0
  const isLate = () => performance.now() - startedAt > MATRIX_MS_MAX
  const lane = async (): Promise<void> => {
    const lab = await FaultLab.start()
    try {
      servers = await lab.versions()
      while (next < trials.length && !isLate()) {
        const trial = trials[next++]
        if (trial === undefined) return
        const result = await runTrial(lab, trial)
        results.push(result)
        say(lineOf(result, results.length, trials.length))
      }
    } finally {
      await lab.stop()
    }
  }
  await Promise.all(Array.from({ length: Math.min(labCount, trials.length) }, lane))
  return { results, servers, notRun: trials.slice(next), ms: performance.now() - startedAt }
}
