import type { OpenJobInput } from '../../../functions/contract/messages.ts'

/** Numbers for what has long names, in the order in which they come up. */
export class Numbers {
  readonly #numbers = new Map<string, number>()
  readonly #first: number

  constructor(first: number) {
    this.#first = first
  }

  of(name: string): number {
    const number = this.#numbers.get(name) ?? this.#first + this.#numbers.size
    this.#numbers.set(name, number)
    return number
  }

  has(name: string): boolean {
    return this.#numbers.has(name)
  }
}

type Life = { readonly arn: string; readonly startedMs: number; readonly redrives: number }

const SAME_START_MS = 1_000

/** Executions by their lives: a name may be used again, and an execution be redriven. */
export class Executions {
  readonly #lives: Life[] = []

  of(life: Life): number {
    const found = this.#lives.findIndex((one) => one.arn === life.arn && isSameLife(one, life))
    return found >= 0 ? found : this.#lives.push(life) - 1
  }

  /** The life that opened something last under this ARN. */
  ofArn(arn: string): number {
    const found = this.#lives.findLastIndex((one) => one.arn === arn)
    return found >= 0 ? found : this.of({ arn, startedMs: 0, redrives: 0 })
  }

  /** The lives of a name that an end shuts out: that start, up to this redrive; all of them where no start is told. */
  endedBy(name: string, startedMs: number | undefined, redrives: number): number[] {
    return this.#lives.flatMap((one, index) => {
      if (one.arn.slice(one.arn.lastIndexOf(':') + 1) !== name) return []
      const isIt = startedMs === undefined || (isNear(one.startedMs, startedMs) && one.redrives <= redrives)
      return isIt ? [index] : []
    })
  }
}

const isNear = (one: number, other: number): boolean => Math.abs(one - other) < SAME_START_MS
const isSameLife = (one: Life, other: Life): boolean =>
  isNear(one.startedMs, other.startedMs) && one.redrives === other.redrives

export const lifeOf = ({ execution, life }: Pick<OpenJobInput, 'execution' | 'life'>): Life => ({
  arn: execution,
  startedMs: Date.parse(life.startedAt),
  redrives: life.redrives,
})
