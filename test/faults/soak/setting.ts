import type { Mode } from '../../model/replay/replay.ts'
import { replaceInPlace } from '../../support/replace-mode.ts'
import { type ShareFile, shareFile } from '../../support/share-file.ts'
import type { TestSlice } from '../../support/test-stack.ts'
import type { FaultLab } from '../matrix/fault-lab.ts'
import type { Random } from './random.ts'

const SLICES = 5
/** So many of them are replaced in place. */
const IN_PLACE = 2
const FILES = 3
const CHUNK_ROWS = 20

/** A slice, the files that its distributor ever sends, and the one that the schedule finds. */
export type Player = {
  readonly slice: TestSlice
  readonly mode: Mode
  readonly staged: readonly { readonly staged: string }[]
  readonly scheduled: ShareFile
}

/** What the actors of a soak share. */
export type Setting = {
  readonly lab: FaultLab
  readonly players: readonly Player[]
  /** Files by the digest of their staged source. */
  readonly files: Map<string, ShareFile>
  /** What is under way in the background and has to end before anything is judged. */
  readonly pending: Promise<unknown>[]
  /** How often each kind of fault hit, and each kind of request was made. */
  readonly counts: Map<string, number>
  readonly violations: string[]
  readonly isOver: () => boolean
}

export const count = ({ counts }: Setting, what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1)

export const openSetting = async (lab: FaultLab, random: Random, isOver: () => boolean): Promise<Setting> => {
  const { on } = lab
  const files = new Map<string, ShareFile>()
  const players: Player[] = []
  await on.outside.query('update distributor set active = false')
  for (let index = 0; index < SLICES; index += 1) {
    const slice = await on.newSlice()
    const mode = index < IN_PLACE ? 'in-place' : 'standby'
    if (mode === 'in-place') await replaceInPlace(on, slice)
    const staged: { staged: string }[] = []
    for (let each = 0; each < FILES; each += 1) {
      const file = shareFile(random.between(60, 240), random.between(10_000, 900_000))
      const source = await on.stage(file, CHUNK_ROWS)
      files.set(source.staged, file)
      staged.push(source)
    }
    const scheduled = shareFile(random.between(60, 240), random.between(10_000, 900_000))
    await on.put(`incoming/${slice.distributor}/${slice.month}.csv`, scheduled.csv)
    await on.seed(slice, shareFile(random.between(40, 120), random.between(10_000, 900_000)))
    players.push({ slice, mode, staged, scheduled })
  }
  return { lab, players, files, pending: [], counts: new Map(), violations: [], isOver }
}
