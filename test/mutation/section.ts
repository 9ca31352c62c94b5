/**
 * What is mutated together, and the tests that must notice. A file's mutants are judged by the tests written for it and
 * by no others: that is stricter than the whole suite, and a mutant costs seconds. Quick files come first, since a
 * mutant's run ends at its first red test.
 */
export type Section = {
  readonly name: string
  /** Files, seen from the project's root. */
  readonly mutate: readonly string[]
  readonly tests: readonly string[]
  /** Whether the tests need MySQL and Valkey. */
  readonly servers: boolean
}

export const unit = (folder: string, ...names: string[]): string[] =>
  names.map((name) => `test/unit/${folder}/${name}.test.ts`)
export const service = (folder: string, ...names: string[]): string[] =>
  names.map((name) => `test/service/${folder}/${name}.test.ts`)
export const files = (folder: string, ...names: string[]): string[] =>
  names.map((name) => `functions/${folder}/${name}.ts`)
