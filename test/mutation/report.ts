import type { MutantResult } from '@stryker-mutator/api/core'

export type SectionResult = {
  readonly section: string
  readonly seconds: number
  readonly mutants: readonly MutantResult[]
}
export const printScores = (results: readonly SectionResult[]): void => {
  for (const { section, seconds, mutants } of results) {
    const count = (s: string) => mutants.filter((m) => m.status === s).length
    console.log(
      section,
      Math.round(seconds),
      'K',
      count('Killed'),
      'T',
      count('Timeout'),
      'S',
      count('Survived'),
      'N',
      count('NoCoverage'),
      'E',
      count('RuntimeError'),
    )
  }
}
export const writeScores = async (_: readonly SectionResult[]): Promise<void> => {}
