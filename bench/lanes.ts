import type { Ground } from './ground.ts'

const MAPS = ['DeleteChunks', 'RegisterChunks'] as const

/** Hosts the job's machine anew with another number of lanes: the one value that differs between stages. */
export const withLanes = async <T>(ground: Ground, lanes: number, work: () => Promise<T>): Promise<T> => {
  const { engine, machineArn } = ground.stack
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
  try {
    return await work()
  } finally {
    engine.host(machineArn, definition)
  }
}
