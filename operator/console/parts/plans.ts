import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { StartPlan } from '../../operations/start-plan.ts'

/** A start or undo between the look and the confirmation. */
export type KeptPlan = {
  readonly kind: 'start' | 'undo'
  readonly plan: StartPlan
  /** The uploaded file, which the start sends on; null where there is none. */
  readonly file: string | null
}

/** Each may keep an upload on the disk, so that few at a time are enough. */
const PLANS_MAX = 8

/** What was read may be old by then: an operator who comes back from lunch checks the file again. */
const PLAN_LIFE_MS = 30 * 60_000

const removeFile = async ({ file }: KeptPlan): Promise<void> => {
  if (file !== null) await rm(file, { force: true })
}

/** Keeps plans by a random id, bounded in number and time; a plan that goes takes its file with it. */
export class Plans {
  readonly #kept = new Map<string, { readonly plan: KeptPlan; readonly timer: NodeJS.Timeout }>()

  async keep(plan: KeptPlan): Promise<string> {
    const oldest = this.#kept.size >= PLANS_MAX ? this.#kept.keys().next().value : undefined
    if (oldest !== undefined) await this.forget(oldest)
    const id = randomUUID()
    this.#kept.set(id, { plan, timer: setTimeout(() => void this.forget(id), PLAN_LIFE_MS).unref() })
    return id
  }

  get(id: string): KeptPlan | undefined {
    return this.#kept.get(id)?.plan
  }

  async forget(id: string): Promise<void> {
    const kept = this.#kept.get(id)
    if (kept === undefined) return
    clearTimeout(kept.timer)
    this.#kept.delete(id)
    await removeFile(kept.plan)
  }

  async forgetAll(): Promise<void> {
    for (const id of [...this.#kept.keys()]) await this.forget(id)
  }
}
