/*
 * Loaded before anything else of a sandbox (`--import`): its clock is off by as many milliseconds as `?ms=` says. What
 * measures durations (`performance`, timers) is right, as on a machine whose date was set wrong.
 */
const shiftMs = Number(new URL(import.meta.url).searchParams.get('ms') ?? 0)
const RealDate = Date

globalThis.Date = class extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(RealDate.now() + shiftMs)
    else super(...(given as [number]))
  }

  static override now(): number {
    return RealDate.now() + shiftMs
  }
} as DateConstructor
