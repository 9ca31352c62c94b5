import { type AlarmSpec, CPU_HIGH_PERCENT, HALF_HOUR_PERIODS, type Watched } from './alarm-spec.ts'
import { database, over } from './metrics.ts'

const STORAGE_LOW_GIB = 10
const STORAGE_LOW_SHARE = 0.1
const CONNECTIONS_HIGH_SHARE = 0.8
const MEMORY_LOW_MIB = 128
/** gp3 answers in a few milliseconds. */
const LATENCY_HIGH_S = 0.05
const LATENCY_PERIODS = 3
/** Per cent of a balance, or credits of a class that keeps 576 and more. A silent metric counts as full. */
const BALANCE_LOW = 20
const FULL = 100

/** The database itself; RDS knows nothing of jobs. */
export const databaseAlarms = ({ config, deployed }: Watched): AlarmSpec[] => {
  const { database: values } = config
  const storageGib = values.kind === 'new' ? values.storageGib * STORAGE_LOW_SHARE : 0
  return [
    {
      name: 'database-storage',
      pages: true,
      meaning: 'The database has little storage left, although it grows by itself up to its maximum.',
      metric: database(deployed, 'FreeStorageSpace', 'Minimum'),
      threshold: Math.max(STORAGE_LOW_GIB, storageGib) * 1_024 ** 3,
      below: true,
    },
    {
      name: 'database-connections',
      pages: true,
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
    {
      name: 'database-memory',
      meaning: 'The database has little memory left, and will swap.',
      metric: database(deployed, 'FreeableMemory', 'Minimum'),
      threshold: MEMORY_LOW_MIB * 1_024 ** 2,
      periods: HALF_HOUR_PERIODS,
      below: true,
    },
    {
      name: 'database-latency',
      meaning: 'The disk is slow: each commit waits for it.',
      metric: over(
        'MAX',
        [database(deployed, 'WriteLatency', 'Average'), database(deployed, 'ReadLatency', 'Average')],
        'seconds for one read or write',
      ),
      threshold: LATENCY_HIGH_S,
      periods: LATENCY_PERIODS,
    },
    {
      name: 'database-credits',
      meaning: 'The database has nearly spent what its class may do beyond its baseline, on its disk or its CPU.',
      metric: over(
        'MIN',
        [
          database(deployed, 'EBSIOBalance%', 'Minimum'),
          database(deployed, 'EBSByteBalance%', 'Minimum'),
          ...(isBurstable(values) ? [database(deployed, 'CPUCreditBalance', 'Minimum')] : []),
        ],
        'per cent, or CPU credits',
        FULL,
      ),
      threshold: BALANCE_LOW,
      below: true,
    },
  ]
}

const isBurstable = (values: Watched['config']['database']): boolean =>
  values.kind === 'new' && values.instanceType.startsWith('t')
