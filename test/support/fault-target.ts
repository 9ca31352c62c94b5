import type { Owner } from './socket-owner.ts'

/** Where a fault hits, and what may be done to the sandbox that was there. */
export type FaultTarget = {
  readonly sql: string
  readonly task: string
  readonly pid: number
  /** kill -9 of the sandbox; a statement that was not forwarded yet never is. */
  readonly kill: () => void
  /** SIGSTOP: the sandbox is paused, its connection stays open. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Cuts the connection on both sides; the sandbox lives. */
  readonly cut: () => void
}

export const faultTargetOf = ({ pid, task }: Owner, sql: string, cut: () => void): FaultTarget => ({
  sql,
  task,
  pid,
  kill: () => {
    signal(pid, 'SIGKILL')
    cut()
  },
  freeze: () => signal(pid, 'SIGSTOP'),
  thaw: () => signal(pid, 'SIGCONT'),
  cut,
})

/** A sandbox may have been killed meanwhile; nobody else gets its number so soon. */
const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
