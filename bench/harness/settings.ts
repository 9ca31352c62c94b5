/** How large the benchmark is. Chosen so that all sections together end within about 25 minutes on 2 cores. */
export type Sizes = {
  /** Rows of the file that is registered. */
  readonly rows: number
  /** How often each measurement is repeated; medians are printed. */
  readonly rounds: number
  /** Slices beside the one that is replaced, and the rows of each. */
  readonly neighbours: number
  readonly neighbourRows: number
  /** Rows of the file for methods that commit each row by itself, and each 250. */
  readonly slowRows: number
  readonly slowishRows: number
  /** Rows of the file when a process is killed half way. */
  readonly killedRows: number
  /** Rows of each file in the section on scale. The second is the one that the largest is compared with. */
  readonly scale: readonly [number, number, number]
  readonly lanes: readonly number[]
  readonly chunkRows: readonly number[]
  /** Rows deleted while an old snapshot is held open. */
  readonly snapshotRows: number
  /** How long the reader reads at rest, and at least beside a job. */
  readonly readerS: number
  /** How long each lock is used, and waited for. */
  readonly lockS: number
  readonly contentionS: number
  readonly starters: number
  /** Rows of the two files that are staged. */
  readonly staging: readonly [number, number]
}

export const FULL: Sizes = {
  rows: 800_000,
  rounds: 3,
  neighbours: 4,
  neighbourRows: 1_000_000,
  slowRows: 10_000,
  slowishRows: 200_000,
  killedRows: 400_000,
  scale: [100_000, 800_000, 8_000_000],
  lanes: [1, 2, 4],
  chunkRows: [2_500, 5_000, 10_000, 15_000, 20_000, 40_000],
  snapshotRows: 1_000_000,
  readerS: 20,
  lockS: 3,
  contentionS: 15,
  starters: 100,
  staging: [800_000, 3_200_000],
}

/** To see the benchmark work, not to measure anything. */
export const SMALL: Sizes = {
  rows: 40_000,
  rounds: 1,
  neighbours: 2,
  neighbourRows: 20_000,
  slowRows: 1_000,
  slowishRows: 10_000,
  killedRows: 40_000,
  scale: [10_000, 20_000, 60_000],
  lanes: [1, 2],
  chunkRows: [2_500, 15_000],
  snapshotRows: 60_000,
  readerS: 2,
  lockS: 0.5,
  contentionS: 5,
  starters: 20,
  staging: [20_000, 60_000],
}
