import { readFileSync } from 'node:fs'

/** A process that was killed and not yet noticed by its parent still answers to signals. */
const isZombie = (pid: number): boolean => {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return line.slice(line.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    return false
  }
}

/** Whether a process of that number runs. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    // EPERM: it lives, but is somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
