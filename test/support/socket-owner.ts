import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const hexPort = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, '0')}`

/** Which of the processes has the socket from this port to that one, as Linux tells under /proc. */
export const ownerOfSocket = (from: number, to: number, pids: readonly number[]): number | undefined => {
  const inode = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find(([, local, remote]) => local?.endsWith(hexPort(from)) && remote?.endsWith(hexPort(to)))?.[9]
  return pids.find((pid) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`)
    } catch {
      return false
    }
  })
}

const linkOf = (path: string): string => {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
