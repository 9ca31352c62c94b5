import { totalsOf } from '../../../functions/store/share-ratio.ts'
import { sliceFingerprint } from '../../../local/fingerprint.ts'
import { whole } from '../../harness/figures.ts'
import { bareRegisterMs } from '../../harness/floor.ts'
import { settle, untilGone } from '../../harness/server.ts'
import { emptySlice, type Testbed } from '../../harness/testbed.ts'
import type { Method, Step } from '../../peers/method.ts'
import type { Trial } from '../../peers/peers.ts'
import { untilHalfway } from './halfway.ts'

/** What was found after a method was killed half way, and after the same was run again. */
export type Killed = {
  readonly method: string
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
export const killMethod = async (testbed: Testbed, trial: Trial, method: Method): Promise<Killed> => {
  const { stack, setting } = testbed
  const { slice, staged, target, expected } = trial
  const { rows } = staged.manifest
  await emptySlice(testbed, slice)
  if (method.step === 'delete') await bareRegisterMs(stack, slice, staged)
  await settle(setting.database)
  const first = method.start(target)
  await untilHalfway(stack, slice, staged, method.step, () => first.child.exitCode !== null)
  first.child.kill('SIGKILL')
  await first.ended
  await untilGone(setting.database, target.user)
  const left = (await totalsOf(setting.database, { ...slice, slot: 0 })).rows
  const half = left > 0 && left < rows
  const second = await method.start(target).ended
  const found = await sliceFingerprint(stack.database.masterAddress, slice.distributor, slice.month)
  const exact = method.step === 'delete' ? found.rows === 0 : String(found) === expected
  const again = second.code === 0 ? 'succeeds' : `fails: ${complaint(second.said)}`
  return {
    ...{ method: method.name, step: method.step, left, rows, again, exact },
    reader: `${whole(left)} rows`,
    safe: exact && !half,
  }
}
