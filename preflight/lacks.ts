import type { Lack } from '../functions/contract/database-needs.ts'
import { Failure, messageOf } from '../functions/contract/failures.ts'

/** What was looked at: what is as it should be, what is lacking, and what nobody could be asked about. */
export type Findings = {
  readonly fine: string[]
  readonly lacks: Lack[]
  readonly unknown: string[]
}

export const noFindings = (): Findings => ({ fine: [], lacks: [], unknown: [] })

export const joined = (all: readonly Findings[]): Findings => ({
  fine: all.flatMap(({ fine }) => fine),
  lacks: all.flatMap(({ lacks }) => lacks),
  unknown: all.flatMap(({ unknown }) => unknown),
})

/** A failure's sentences begin with what is wrong and end with what to do. */
export const lackOf = (check: string, error: unknown, remedy = ''): Lack => ({
  check,
  what: error instanceof Failure ? error.message : messageOf(error),
  remedy,
})

/** A line each, the lacks last, where they are seen. */
export const linesOf = ({ fine, lacks, unknown }: Findings): string[] => [
  ...fine.map((line) => `ok       ${line}`),
  ...unknown.map((line) => `unknown  ${line}`),
  ...lacks.map(({ check, what, remedy }) => `lacks    ${check}: ${what}${remedy === '' ? '' : ` ${remedy}`}`),
]
