import type { Started } from './tools.ts'

export type Step = 'delete' | 'register'

/** Where a method works: one slice, reached with an account that has no password, and its file in several forms. */
export type Target = {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly distributorId: number
  /** First day of the month, as MySQL writes it. */
  readonly month: string
  readonly files: Files
}

/** The same rows as each tool takes them. */
export type Files = {
  /** `share_ratio.tsv`: all six columns in key order. */
  readonly one: string
  /** The same, cut into files of a chunk each. */
  readonly split: readonly string[]
  /** A folder that mydumper wrote; undefined where there is no mydumper. */
  readonly dump: string | undefined
}

/** One method to do one step of the job, as a process of its own that can be killed. */
export type Method = {
  readonly name: string
  readonly step: Step
  /** How many of the job's rows it is measured on: the slow ones on fewer. */
  readonly pace: 'fast' | 'slowish' | 'slow'
  /** True where all of it is one transaction: killed half way it leaves no half. */
  readonly atomic: boolean
  readonly start: (target: Target) => Started
}
