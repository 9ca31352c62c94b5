/**
 * Keeps one idle connection of a sandbox from one invocation to the next. Who takes it has it alone, and gives it back
 * only if nothing is under way on it: two invocations never have the same one.
 */
export class IdlePool<Resource> {
  readonly #drop: (resource: Resource) => void
  #resource: Resource | undefined

  constructor(drop: (resource: Resource) => void) {
    this.#drop = drop
  }

  take(): Resource | undefined {
    const resource = this.#resource
    this.#resource = undefined
    return resource
  }

  give(resource: Resource): void {
    if (this.#resource !== undefined) this.#drop(this.#resource)
    this.#resource = resource
  }
}
