import type { Checks, RefusedEvent } from '../../../functions/contract/checks.ts'
import { lacksOf } from '../../../functions/contract/database-needs.ts'
import { sliceName } from '../../../functions/contract/words.ts'
import type { Finding } from '../finding.ts'
import { UNPUBLISHED_S } from '../limits.ts'

const error = (check: string, what: string, remedy: string): Finding => ({
  check,
  severity: 'error',
  what,
  remedy,
  slice: null,
})

/** Not every rule does harm: a trigger may only count. But nobody else would see the one that does. */
const foreignFindings = (rules: Checks['database']['foreignRules']): Finding[] =>
  rules.map(({ kind, name, detail }) => ({
    check: 'foreign-rule',
    severity: 'warning',
    what: `Another program has the ${kind} ${name} (${detail}) on share_ratio: it may change or refuse what a run registers or deletes.`,
    remedy: `Ask its owner what it is for, and drop it where it does more than look on.`,
    slice: null,
  }))

/** The schema, what loading and deleting need, and Valkey. */
export const databaseFindings = ({ database, lockProblem }: Checks): Finding[] => {
  const found: Finding[] = []
  const { migrationsMissing: missing, migrationsUnknown: unknown, facts, foreignRules } = database
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
  found.push(
    ...lacksOf(facts).map(({ check, what, remedy }) => error(check, what, remedy)),
    ...foreignFindings(foreignRules),
  )
  if (facts.isReadOnly)
    found.push(
      error(
        'read-only',
        'MySQL is read only, so no run can write.',
        'During a failover wait a minute; otherwise connect to the primary, or: set global read_only = 0;',
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
  remedy: `Fix what the topic says; the sweeper tries again after ${nextTryAt}. See outbox-refused in docs/runbook.md.`,
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
          remedy: 'The sweeper publishes as soon as it runs and the topic takes it: see outbox-old in docs/runbook.md.',
          slice: null,
        },
      ]
