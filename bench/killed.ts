import { totalsOf } from '../functions/store/share-ratio.ts'
import { sliceFingerprint } from '../local/fingerprint.ts'
import { whole } from './figures.ts'
import { bareRegisterMs } from './floor.ts'
import { emptySlice, type Ground } from './ground.ts'
import { untilHalfway } from './halfway.ts'
import type { Plot } from './peers/field.ts'
import type { Step, Way } from './peers/way.ts'
import { settle, untilGone } from './server.ts'

/** What was found after a way was killed half way, and after the same was run again. */
export type Killed = {
  readonly way: string
  readonly step: Step
  /** Rows left in the slice once the server was done with what the killed process had begun, of `rows`. */
  readonly left: number
  readonly rows: number
  readonly reader: string
  readonly again: string
  /** Whether the slice then holds exactly what it should. */
  readonly exact: boolean
  /** Exact in the end, and no reader saw a half. */
  readonly safe: boolean
}

/** What a failed process said, in the few words a table has room for. */
const complaint = (said: string): string =>
  /Duplicate entry/.test(said) ? 'a duplicate key' : (said.trim().split('\n').at(-1) ?? '').slice(0, 80)

/** Kills a peer half way with SIGKILL, looks at the table as any reader of it does, and runs the same command again. */
export const killWay = async (ground: Ground, plot: Plot, way: Way): Promise<Killed> => {
  const { stack, setting } = ground
  const { slice, staged, target, expected } = plot
  const { rows } = staged.manifest
  await emptySlice(ground, slice)
  if (way.step === 'delete') await bareRegisterMs(stack, slice, staged)
  await settle(setting.database)
  const first = way.start(target)
  await untilHalfway(stack, slice, staged, way.step, () => first.child.exitCode !== null)
  first.child.kill('SIGKILL')
  await first.ended
  await untilGone(setting.database, target.user)
  const left = (await totalsOf(setting.database, slice)).rows
  const half = left > 0 && left < rows
  const second = await way.start(target).ended
  const found = await sliceFingerprint(stack.database.masterAddress, slice.distributor, slice.month)
  const exact = way.step === 'delete' ? found.rows === 0 : String(found) === expected
  const again = second.code === 0 ? 'succeeds' : `fails: ${complaint(second.said)}`
  return {
    ...{ way: way.name, step: way.step, left, rows, again, exact },
    reader: `${whole(left)} rows`,
    safe: exact && !half,
  }
}
