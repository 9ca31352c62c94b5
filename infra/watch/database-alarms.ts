import { type AlarmSpec, CPU_HIGH_PERCENT, HALF_HOUR_PERIODS, type Watched } from './alarm-spec.ts'
import { database } from './metrics.ts'

const STORAGE_LOW_GIB = 10
const STORAGE_LOW_SHARE = 0.1
const CONNECTIONS_HIGH_SHARE = 0.8

/** The database itself; RDS knows nothing of jobs. */
export const databaseAlarms = ({ config, deployed }: Watched): AlarmSpec[] => {
  const { database: values } = config
  const storageGib = values.kind === 'new' ? values.storageGib * STORAGE_LOW_SHARE : 0
  return [
    {
      name: 'database-storage',
      meaning: 'The database has little storage left, although it grows by itself up to its maximum.',
      metric: database(deployed, 'FreeStorageSpace', 'Minimum'),
      threshold: Math.max(STORAGE_LOW_GIB, storageGib) * 1_024 ** 3,
      below: true,
    },
    {
      name: 'database-connections',
      meaning: 'Connections come near max_connections; above it, everybody is refused.',
      metric: database(deployed, 'DatabaseConnections', 'Maximum'),
      threshold: Math.floor(CONNECTIONS_HIGH_SHARE * values.maxConnections),
    },
    {
      name: 'database-cpu',
      meaning: 'The database is busy for half an hour.',
      metric: database(deployed, 'CPUUtilization', 'Average'),
      threshold: CPU_HIGH_PERCENT,
      periods: HALF_HOUR_PERIODS,
    },
  ]
}
