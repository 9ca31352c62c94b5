import type { AlarmSpec, Watched } from './alarm-spec.ts'
import { emitted, over } from './metrics.ts'

/** CloudWatch takes no more in the expression of an alarm. */
const METRICS_MAX = 10

const MEMORY_HIGH_PERCENT = 90
const OPERATORS_ERRORS_MAX = 5

/** The functions as Lambda sees them. How their work ended is the machines' and the queues' to tell. */
export const functionAlarms = ({ config: { stage }, functions }: Watched): AlarmSpec[] => {
  const throttles = functions.all.map(([, fn]) => fn.metricThrottles({ statistic: 'Sum' }))
  const parts = Array.from({ length: Math.ceil(throttles.length / METRICS_MAX) }, (_, index) =>
    throttles.slice(index * METRICS_MAX, (index + 1) * METRICS_MAX),
  )
  const { Inspect, Operate } = functions.operators
  return [
    ...parts.map((part, index) => ({
      name: index === 0 ? 'functions-throttled' : `functions-throttled-${index + 1}`,
      heading: 'functions-throttled',
      meaning: 'Lambda refused calls, for more ran at once than the account or the function may. They are repeated.',
      metric: over('SUM', part, 'throttled calls'),
      threshold: 1,
    })),
    {
      name: 'functions-memory',
      meaning: `A function has used ${MEMORY_HIGH_PERCENT} % of its memory; at all of it, Lambda ends it without a word.`,
      metric: emitted(stage, 'memory.used', 'Maximum'),
      threshold: MEMORY_HIGH_PERCENT,
    },
    {
      name: 'operators-failing',
      meaning: "The functions behind the operators' command and console fail.",
      metric: over(
        'SUM',
        [Inspect, Operate].map((fn) => fn.metricErrors({ statistic: 'Sum' })),
        'errors',
      ),
      threshold: OPERATORS_ERRORS_MAX,
    },
  ]
}
