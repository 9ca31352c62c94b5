import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Lambda } from '../../local/lambda/lambda.ts'

/** The process behind a connection. */
export type Owner = { readonly pid: number; readonly task: string }
export type OwnerOf = (clientPort: number, relayPort: number) => Owner | undefined

const hexPort = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, '0')}`

/** Which of the processes has the socket from this port to that one, as Linux tells under /proc. */
const ownerOfSocket = (from: number, to: number, pids: readonly number[]): number | undefined => {
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

/** Finds the sandbox behind a relay's connection. */
export const sandboxOf =
  (lambda: Lambda): OwnerOf =>
  (from, to) => {
    const { sandboxes } = lambda
    const pids = sandboxes.map((sandbox) => sandbox.pid)
    const pid = ownerOfSocket(from, to, pids)
    return pid === undefined ? undefined : { pid, task: sandboxes.find((one) => one.pid === pid)?.fn.name ?? '' }
  }
