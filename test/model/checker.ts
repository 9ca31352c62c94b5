import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Case } from './cases.ts'
import type { Tools } from './tools.ts'

export type Outcome = {
  readonly states: number
  readonly depth: number
  readonly memoryMb: number
  readonly seconds: number
  /** What was violated: an invariant's number, or `deadlock`; undefined where nothing was. */
  readonly violated: string | undefined
  /** True where every state was visited: nothing cut off by depth, memory or hashing. */
  readonly complete: boolean
  /** Statements that no state led to. */
  readonly unreached: readonly string[]
  /** Numbers of the places that were come to. */
  readonly reached: readonly string[]
  /** The shortest way to the violation, in the model's words. */
  readonly trail: readonly string[]
}

/** Steps of one path. No case comes near: the depth is printed. */
const DEPTH_MAX = 100_000
const MEMORY_MAX_MB = 2_000
/** 2^24 slots: fits the largest case without growing, and takes 128 MB. */
const HASH_BITS = 24
const TIMEOUT_MS = 900_000
const OUTPUT_BYTES_MAX = 16 * 1_024 * 1_024

/** The checker ends with a status of its own; what it says is what counts. */
const run = (command: string, args: readonly string[], cwd: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { cwd, maxBuffer: OUTPUT_BYTES_MAX, timeout: TIMEOUT_MS }
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      const failed = error !== null && (typeof error.code !== 'number' || stdout === '')
      if (failed) reject(new Error(`${command} failed: ${stderr.slice(0, 2_000) || error.message}`, { cause: error }))
      else resolve(`${stdout}\n${stderr}`)
    })
    // The machine may be somebody's desk.
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
  })

const numberIn = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? Number.NaN)

const violatedIn = (output: string): string | undefined => {
  const assertion = /^pan:\d+: assertion violated \(\((\d+)>0\)/m.exec(output)
  if (assertion !== null) return assertion[1]
  const other = /^pan:\d+: (.*)$/m.exec(output)
  return other === null ? undefined : other[1]?.startsWith('invalid end state') ? 'deadlock' : other[1]
}

/** The names of statements are quoted behind their place; a process's own end is one that never comes. */
const unreachedIn = (output: string): string[] =>
  [...output.matchAll(/^\t(\S+), state \d+, "(.*)"$/gm)]
    .filter(([, , statement]) => statement !== '-end-')
    .map(([, place, statement]) => `${place} ${statement}`)

const isComplete = (output: string): boolean =>
  /^Full statespace search for:/m.test(output) &&
  !/Search not completed|search depth too small|out of memory|max search depth|Bit statespace/i.test(output)

const outcomeOf = (output: string, trail: readonly string[]): Outcome => ({
  states: numberIn(output, /^\s*([\d.e+]+) states, stored/m),
  depth: numberIn(output, /depth reached (\d+)/),
  memoryMb: numberIn(output, /([\d.]+)\ttotal actual memory usage/),
  seconds: numberIn(output, /elapsed time ([\d.e-]+) seconds/),
  violated: violatedIn(output),
  complete: isComplete(output),
  unreached: unreachedIn(output),
  reached: [...output.matchAll(/^reached (\d+)$/gm)].map(([, place]) => place ?? ''),
  trail,
})

/** What the model printed on the way: everything ahead of the checker's own report. */
const trailOf = (replay: string): string[] =>
  (replay.split(/^pan:\d+: |^spin: trail ends/m)[0] ?? '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('reached '))

/**
 * Makes a checker of the model with the case's macros and runs it over the whole state space. `search` is `all` for a
 * case that should hold (depth first, fast code) and `shortest` for a mutant (breadth first: the shortest way to its
 * fault).
 */
export const check = async (tools: Tools, { defines }: Case, search: 'all' | 'shortest'): Promise<Outcome> => {
  const folder = await mkdtemp(join(tmpdir(), 'sharelock-model-'))
  try {
    for (const name of await readdir(import.meta.dirname))
      if (name.endsWith('.pml')) await cp(join(import.meta.dirname, name), join(folder, name))
    const macros = defines.map((define) => `-D${define}`)
    const preprocessor = `-P${tools.compiler} -std=gnu99 -E -x c`
    await run(tools.spin, [preprocessor, '-a', ...macros, 'sharelock.pml'], folder)
    // No -DCOLLAPSE: it saves a third of the memory here and doubles the time.
    const options = search === 'all' ? ['-O2'] : ['-O1', '-DBFS']
    // -DSAFETY: the invariants are assertions, so no cycles are looked for.
    await run(tools.compiler, [...options, '-DSAFETY', `-DMEMLIM=${MEMORY_MAX_MB}`, '-w', '-o', 'pan', 'pan.c'], folder)
    const output = await run(join(folder, 'pan'), [`-m${DEPTH_MAX}`, `-w${HASH_BITS}`], folder)
    const hasTrail = (await readdir(folder)).some((name) => name.endsWith('.trail'))
    const replay = hasTrail ? await run(join(folder, 'pan'), ['-r', '-S'], folder) : ''
    return outcomeOf(output, trailOf(replay))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
