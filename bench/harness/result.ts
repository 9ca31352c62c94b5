/** What a section of the benchmark has found, ready to be printed: the page generator computes nothing. */

export type Table = {
  readonly title: string
  readonly head: readonly string[]
  /** The first column is text, the others are figures. */
  readonly rows: readonly (readonly string[])[]
}

/** One chart of bars; `labels` and `values` have the same length. */
export type Chart = {
  readonly title: string
  readonly labels: readonly string[]
  /** What the values are, with their unit. */
  readonly unit: string
  readonly values: readonly number[]
}

export type Verdict = { readonly target: string; readonly measured: string; readonly met: boolean }

export type Findings = {
  readonly tables: readonly Table[]
  readonly charts: readonly Chart[]
  readonly verdicts: readonly Verdict[]
  /** Sentences a reader needs to judge the figures: what was left out, what was measured on fewer rows. */
  readonly notes: readonly string[]
}

/** The machine and what ran on it, each as a person would write it. */
export type Machine = Readonly<Record<string, string>>

/** A section's findings and where they come from; one JSON file each. */
export type Result = Findings & {
  readonly section: string
  readonly title: string
  /** What was done, in a sentence or two. */
  readonly about: string
  /** ISO 8601, in UTC. */
  readonly ranAt: string
  readonly seconds: number
  readonly machine: Machine
  readonly settings: Readonly<Record<string, string>>
}
