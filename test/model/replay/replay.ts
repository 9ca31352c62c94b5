import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findReplayTools } from '../tools.ts'
import { promelaOf, type TraceEvent } from './events.ts'
import { withoutFloors } from './fences.ts'

const run = promisify(execFile)
const MODEL = join(import.meta.dirname, '..')
const TIMEOUT_MS = 60_000

/** How a distributor's jobs replace a slice. */
export type Mode = 'standby' | 'in-place'

/** The event that the model can't do, and the place of it; undefined where it did all of them. */
export type Refused = { readonly index: number; readonly event: TraceEvent; readonly said: string }

let tools: ReturnType<typeof findReplayTools> | undefined

/**
 * Lets Spin take a trace through the model, step by step: each event is one of the model's own steps, with the model's own
 * conditions and assertions. Where it can't be taken, code and model do not agree.
 */
export const replay = async (events: readonly TraceEvent[], mode: Mode): Promise<Refused | undefined> => {
  tools ??= findReplayTools(() => undefined)
  const { spin, preprocessor, libraries } = await tools
  const folder = await mkdtemp(join(tmpdir(), 'sharelock-replay-'))
  try {
    for (const name of await readdir(MODEL)) if (name.endsWith('.pml')) await cp(join(MODEL, name), join(folder, name))
    await writeFile(join(folder, 'trace.pml'), promelaOf(withoutFloors(events)))
    const macros = ['-DREPLAY', ...(mode === 'in-place' ? ['-DIN_PLACE'] : [])]
    // -T: no indentation; -B: nothing of the last state. The model has no choice in it, so no seed matters.
    const args = [`-P${preprocessor}`, '-T', '-B', ...macros, 'trace.pml']
    // Where an assertion fails Spin ends with a status of its own; what it says is what counts.
    const env = libraries === undefined ? process.env : { ...process.env, LD_LIBRARY_PATH: libraries }
    const { stdout } = await run(spin, args, { cwd: folder, timeout: TIMEOUT_MS, env }).catch((error) => {
      if (typeof error.stdout === 'string' && error.stdout !== '') return { stdout: error.stdout as string }
      throw error
    })
    if (stdout.includes(`accepted ${events.length + 1}`)) return undefined
    if (/Error: (?!assertion)/.test(stdout)) throw new Error(`Spin does not read the trace: ${stdout.slice(0, 500)}`)
    const index = Number([...stdout.matchAll(/^took (\d+)$/gm)].at(-1)?.[1] ?? 0)
    const event = events[index]
    if (event === undefined) throw new Error(`Spin ended oddly: ${stdout.slice(-500)}`)
    const assertion = /assertion violated.*$/m.exec(stdout)?.[0]
    return { index, event, said: assertion ?? 'it is no step of the model' }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A refusal in words, with what led to it. */
export const refusalText = ({ index, event, said }: Refused, events: readonly TraceEvent[]): string =>
  `the model can't do event ${index + 1} of ${events.length}, ${event.what} (${said}); before it: ${
    events
      .slice(Math.max(0, index - 3), index)
      .map(({ what }) => what)
      .join('; ') || 'nothing'
  }`
