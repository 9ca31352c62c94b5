import { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { METRIC_NAMESPACE, METRICS, type MetricName } from '../../functions/contract/metrics.ts'
import type { Deployed } from '../data/stores.ts'

const PERIOD = Duration.minutes(5)

/** A metric that the handlers emit. */
export const emitted = (stage: string, name: MetricName, statistic: string, period = PERIOD): Metric =>
  new Metric({
    namespace: METRIC_NAMESPACE,
    metricName: name,
    dimensionsMap: { stage },
    statistic,
    period,
    label: `${name}: ${METRICS[name]}`,
  })

/** A metric of the database instance. */
export const database = ({ databaseIdentifier }: Deployed, metricName: string, statistic: string): Metric =>
  new Metric({
    namespace: 'AWS/RDS',
    metricName,
    dimensionsMap: { DBInstanceIdentifier: databaseIdentifier },
    statistic,
    period: PERIOD,
  })

/** A metric of each Valkey node. */
export const lockNodes = ({ lockNodeIds }: Deployed, metricName: string, statistic: string): Metric[] =>
  lockNodeIds.map(
    (CacheClusterId) =>
      new Metric({
        namespace: 'AWS/ElastiCache',
        metricName,
        dimensionsMap: { CacheClusterId, CacheNodeId: '0001' },
        statistic,
        period: PERIOD,
        label: CacheClusterId,
      }),
  )

/** The largest, the smallest or the sum of several metrics. @param silent what one counts that has no data */
export const over = (
  combine: 'MAX' | 'MIN' | 'SUM',
  metrics: readonly Metric[],
  label: string,
  silent = 0,
): MathExpression => {
  const named = Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]))
  return new MathExpression({
    expression: `${combine}([${Object.keys(named)
      .map((name) => `FILL(${name}, ${silent})`)
      .join(', ')}])`,
    usingMetrics: named,
    period: PERIOD,
    label,
  })
}

/** Rows deleted and registered per second. */
export const rowsPerSecond = (stage: string): MathExpression =>
  new MathExpression({
    expression: 'rows / PERIOD(rows)',
    usingMetrics: { rows: emitted(stage, 'chunk.rows', 'Sum', Duration.minutes(1)) },
    period: Duration.minutes(1),
    label: 'rows/s',
  })
