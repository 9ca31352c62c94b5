/**
 * The metrics, under the namespace Sharelock with one dimension, the stage. Handlers write them as EMF lines into their
 * logs; the dashboard and the alarms name them. A test compares this table with what the code emits.
 */
export const METRIC_NAMESPACE = 'Sharelock'

export const METRICS = {
  'lock.acquire.success': 'locks acquired',
  'lock.acquire.failure': 'runs refused because another one holds the slice',
  'lock.acquire.timeout': 'acquisitions that Valkey did not answer',
  'lock.acquire.latency': 'how long the answer to an acquisition took',
  'lock.retry.count': 'attempts of runs that wait for a held lock',
  'lock.age': "time since the lock's last extension, each time it is extended",
  'lock.hold.duration': 'from opening a job to its end',
  'lock.unlock.failure': 'locks that could not be released; they end with their TTL',
  'lock.renew.failure': 'extensions that failed: lost, or Valkey out of reach',
  'chunk.rows': 'rows deleted and registered',
  'chunk.duration': 'one transaction; the lock was extended at its begin',
  'fence.rejected': 'writes that MySQL refused for an old fence',
  'job.halted': 'jobs halted',
  'outbox.age': 'age of the oldest event that is not published and not set aside',
  'outbox.refused': 'events that the topic refused, and that are tried again every hour',
  'job.open': 'jobs that are neither REGISTERED nor closed',
  'job.open.halted': 'of these, the halted ones: each waits for a person',
  'job.open.age': 'time since the oldest job that runs was opened',
  'memory.used': "per cent of a function's memory that its process has had at most, where that is much",
  'month.missing': 'active distributors without a file when the month was dispatched',
  'month.left': "distributors left alone by the dispatch, since somebody's job is not to be touched",
  'source.warned': 'files of the schedule that wait for an operator to confirm their warnings',
  'month.overdue': 'active distributors whose month is due and was never REGISTERED',
} as const

export type MetricName = keyof typeof METRICS
