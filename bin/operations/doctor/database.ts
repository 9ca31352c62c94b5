import type { Checks, RefusedEvent } from '../../../functions/contract/reports.ts'
import { sliceName } from '../../../functions/contract/words.ts'
import { UNPUBLISHED_S } from '../limits.ts'
import type { Finding } from '../operations.ts'

const error = (check: string, what: string, mend: string): Finding => ({
  check,
  severity: 'error',
  what,
  mend,
  slice: null,
})

/** The schema, the setting that loading needs, and Valkey. */
export const databaseFindings = ({ database, lockProblem }: Checks): Finding[] => {
  const found: Finding[] = []
  const { migrationsMissing: missing, migrationsUnknown: unknown, localInfile } = database
  if (missing.length > 0)
    found.push(
      error(
        'schema',
        `The database lacks the migrations ${missing.join(', ')} of this release.`,
        'Deploy the job stack again: its migrator runs first, and its log says why a migration fails.',
      ),
    )
  if (unknown.length > 0)
    found.push({
      ...error(
        'schema',
        `The database has the migrations ${unknown.join(', ')}, which this release does not know.`,
        'A newer release was deployed before: deploy that one again.',
      ),
      severity: 'warning',
    })
  if (!localInfile)
    found.push(
      error(
        'local-infile',
        'local_infile is off, so no chunk can be loaded.',
        'Set local_infile=1 in the parameter group of the database (the data stack does), or: set global local_infile = 1;',
      ),
    )
  if (lockProblem !== null)
    found.push(
      error(
        'unreachable-service',
        `Valkey does not answer: ${lockProblem}`,
        'See to the replication group; jobs halt meanwhile and are resumed afterwards. Then: sharelock doctor',
      ),
    )
  return found
}

/** Events that wait, and events that the topic refuses. */
export const eventFindings = (checks: Checks): Finding[] => [
  ...waitingFindings(checks),
  ...checks.refusedEvents.map(refusedFinding),
]

const refusedFinding = ({ event, type, job, attempts, error, nextTryAt, ...slice }: RefusedEvent): Finding => ({
  check: 'refused-event',
  severity: 'error',
  what: `The topic refuses the event ${event} (${type} of job ${job}, ${sliceName(slice)}), ${attempts === 1 ? 'once' : `${attempts} times`} so far: ${error}. Its consumers do not know.`,
  mend: `Put right what the topic says; the sweeper tries again after ${nextTryAt}. See outbox-refused in docs/runbook.md.`,
  slice: { distributor: slice.distributor, month: slice.month },
})

/** Events are published by the run itself or by the sweeper; an old one says that neither can. */
const waitingFindings = ({ unpublished: { events, oldestS } }: Checks): Finding[] =>
  oldestS === null || oldestS < UNPUBLISHED_S
    ? []
    : [
        {
          check: 'unpublished-events',
          severity: 'warning',
          what: `${events === 1 ? '1 event waits' : `${events} events wait`} to be published, the oldest for ${Math.round(oldestS / 60)} min; consumers do not know yet.`,
          mend: 'The sweeper publishes as soon as it runs and the topic takes it: see outbox-old in docs/runbook.md.',
          slice: null,
        },
      ]
