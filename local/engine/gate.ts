import { AsyncLocalStorage } from 'node:async_hooks'
import type { RunnerEvent } from './history.ts'

/** One passage through a Map or Parallel state. */
type Entry = { readonly container: string; hasFailed: boolean }

/** The entry in whose flow the code runs. */
const flow = new AsyncLocalStorage<Entry>()

/**
 * Tells whether a task inside a Map or Parallel state may still start. When an item fails for good, AWS starts no other;
 * the runner starts all that are queued, and retries at once those that wait for a retry.
 */
export class Gate {
  readonly #current = new Map<string, Entry>()
  /** Entries by their input, an object that the runner makes anew for each: its events carry nothing else of the entry. */
  readonly #byInput = new WeakMap<object, Entry>()

  /** Called in the flow of the execution as it enters the container: everything its items do descends from here. */
  enter(container: string): void {
    const entry = { container, hasFailed: false }
    this.#current.set(container, entry)
    flow.enterWith(entry)
  }

  /**
   * Takes note of an event, and says whether it happened in AWS's sense: an item that the runner starts after another
   * one failed did not.
   *
   * @param container of the state that the event is about
   */
  observe(event: RunnerEvent, container: string | undefined): boolean {
    const isItem = 'parentState' in event
    if (!isItem && container === undefined) return true
    const entry = isItem ? this.#entryOf(event.parentState) : this.#current.get(container ?? '')
    if (entry === undefined) return true
    const happened = !entry.hasFailed
    if (event.type === 'MapIterationFailed' || event.type === 'ParallelBranchFailed') entry.hasFailed = true
    return happened
  }

  #entryOf({ name, input }: { name: string; input: unknown }): Entry | undefined {
    const current = this.#current.get(name)
    if (typeof input !== 'object' || input === null || current === undefined) return current
    const entry = this.#byInput.get(input) ?? current
    this.#byInput.set(input, entry)
    return entry
  }

  /** Called in the flow of a task inside `container`. */
  isOpen(container: string): boolean {
    const entry = flow.getStore()
    // An entry that is no longer the current one is over, whatever its end was.
    return entry !== undefined && entry === this.#current.get(container) && !entry.hasFailed
  }
}
