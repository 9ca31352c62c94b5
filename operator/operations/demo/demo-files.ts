import { ROW_COLUMNS } from '../../../functions/contract/row-format.ts'

/** Eight distributors that nobody has: code, name, and the tracks of their first month. */
export const DEMO_DISTRIBUTORS = [
  ['ARIA', '아리아', 240],
  ['BOM', '봄소리 엔터테인먼트', 80],
  ['DAMSO', '담소음반', 60],
  ['HANBIT', '한빛뮤직', 110],
  ['LUMEN', 'Lumen Records', 70],
  ['NAMU', '나무레코드', 40],
  ['ORBIT', 'Orbit Distribution', 90],
  ['SORI', '소리마을 유통', 30],
] as const

/** How a track's share may be split. */
const SPLITS = [['100'], ['50', '50'], ['75', '25'], ['62.5', '37.5'], ['33.333333', '33.333333', '33.333334']] as const

/** New tracks of each month, and one track in so many whose parties change hands in a month. */
const NEW_TRACKS = 3
const CHANGED_EVERY = 40

/**
 * The file of one distributor and month, the same on every machine: what the month before had, a few tracks more, and a
 * few with other parties.
 *
 * @param number the distributor's place in the list
 * @param month how many months after the first
 */
export const demoFile = (number: number, month: number): string => {
  const tracks = (DEMO_DISTRIBUTORS[number]?.[2] ?? 0) + NEW_TRACKS * month
  const lines = [ROW_COLUMNS.join(',')]
  for (let track = 0; track < tracks; track += 1) {
    const isrc = `KRD${number}026${String(track).padStart(5, '0')}`
    // The number of months in which this track changed hands until now.
    const changes = Math.floor((month + (track % CHANGED_EVERY)) / CHANGED_EVERY)
    const shares = SPLITS[(track + changes) % SPLITS.length] ?? SPLITS[0]
    for (const [place, share] of shares.entries()) {
      const party = ((track * 7 + place * 31 + changes * 101) % 900) + 1
      lines.push(`${isrc},PERFORMANCE,KOMCA.${String(party).padStart(7, '0')},${share}`)
    }
  }
  return `${lines.join('\n')}\n`
}
