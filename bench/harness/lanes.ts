import type { Stack } from '../../local/stack.ts'

const MAPS = ['DeleteChunks', 'RegisterChunks'] as const

/**
 * Hosts the job's machine anew with another number of lanes: the one value that differs between stages.
 *
 * @returns hosts it as it was before
 */
export const hostLanes = ({ engine, machineArn }: Stack, lanes: number): (() => void) => {
  const { definition } = engine.machine(machineArn)
  const changed = structuredClone(definition) as typeof definition & {
    States: Record<string, { MaxConcurrency?: number }>
  }
  for (const name of MAPS) {
    const map = changed.States[name]
    if (map?.MaxConcurrency === undefined) throw new Error(`The machine has no Map ${name}`)
    map.MaxConcurrency = lanes
  }
  engine.host(machineArn, changed)
  return () => engine.host(machineArn, definition)
}

export const withLanes = async <T>(stack: Stack, lanes: number, work: () => Promise<T>): Promise<T> => {
  const restore = hostLanes(stack, lanes)
  try {
    return await work()
  } finally {
    restore()
  }
}
