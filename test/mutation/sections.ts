import { files, type Section, service, unit } from './section.ts'
import { STAGING_SECTIONS } from './staging-sections.ts'

export const SECTIONS: readonly Section[] = [
  {
    name: 'contract',
    mutate: [
      ...files(
        'contract',
        'chunks',
        'env',
        'execution',
        'failure-table',
        'failures',
        'numbers',
        'remedies',
        'limits',
        'source-limits',
        'support-limits',
        'manifest',
        'messages',
        'month-messages',
        'migrator-env',
        'source-values',
      ),
      ...files('contract', 'source-refusals', 'tasks', 'words'),
    ],
    tests: unit(
      'contract',
      'contract',
      'execution',
      'failures',
      'numbers',
      'messages',
      'message-bounds',
      'environment',
      'source-values',
      'source-shares',
      'limits',
    ),
    servers: false,
  },
  ...STAGING_SECTIONS,
  {
    name: 'lock',
    mutate: [
      ...files(
        'store/lock',
        'acquire',
        'answers',
        'client',
        'extend',
        'holder',
        'inspect',
        'login',
        'release',
        'run',
        'iam-password',
      ),
      ...files('job', 'verify-lock'),
    ],
    tests: [
      ...unit('store/lock', 'client'),
      ...service('job', 'verify-lock'),
      ...service('store/lock', 'lock', 'answers'),
    ],
    servers: true,
  },
  {
    name: 'transaction',
    mutate: files('store/mysql', 'transaction', 'tx', 'error-rules', 'failure'),
    tests: [
      ...service('store/mysql', 'transaction', 'database'),
      ...service(
        'job',
        'open-job',
        'open-job-overtaken',
        'open-job-ended',
        'open-job-frozen',
        'chunks',
        'chunk-fence',
        'delete-chunk',
      ),
      ...service('store/job', 'slice-lines'),
    ],
    servers: true,
  },
  {
    name: 'database',
    mutate: [
      ...files('store', 'distributor'),
      ...files('store/schema', 'migrate', 'app-user', 'health'),
      ...files(
        'store/mysql',
        'connection',
        'database',
        'pieces',
        'side-connection',
        'blockers',
        'own-session',
        'session-settings',
        'wait-watch',
      ),
    ],
    tests: [
      ...service('store/mysql', 'database'),
      ...service('job', 'prepare-database'),
      ...service('store/schema', 'app-user'),
      ...service('store/mysql', 'blockers', 'own-session', 'session-settings'),
      ...service('store/schema', 'migrate'),
    ],
    servers: true,
  },
  {
    name: 'job',
    mutate: [
      ...files('store/job', 'row', 'predicates', 'fence', 'guard', 'held', 'mark-state', 'execution', 'outbox'),
      ...files('job', 'open-job', 'halt-job', 'read-head', 'publish-events', 'topic-answer'),
    ],
    tests: [
      ...service('store/job', 'history', 'guard'),
      ...service(
        'job',
        'halt-job',
        'halt-ended',
        'halt-told',
        'refused-event',
        'open-job',
        'open-job-overtaken',
        'open-job-ended',
        'open-job-frozen',
        'transitions',
        'transitions-refused',
        'mark-registered',
        'chunks',
        'chunk-fence',
        'delete-chunk',
      ),
    ],
    servers: true,
  },
  {
    name: 'chunks',
    mutate: [
      ...files('store/job', 'ledger'),
      ...files('store', 'share-ratio'),
      ...files('job', 'run-chunks', 'transitions'),
    ],
    tests: service(
      'job',
      'chunk-loop',
      'transitions',
      'transitions-refused',
      'mark-registered',
      'chunks',
      'chunk-fence',
      'delete-chunk',
      'neighbours',
    ),
    servers: true,
  },
  {
    name: 'month',
    mutate: [...files('store/job', 'quiet-jobs'), ...files('job', 'sweep', 'plan-month', 'prepare-database')],
    tests: service('job', 'plan-month', 'plan-month-again', 'sweep', 'sweep-held', 'sweep-reports', 'prepare-database'),
    servers: true,
  },
]

export const sectionOf = (name: string): Section => {
  const section = SECTIONS.find((each) => each.name === name)
  if (section !== undefined) return section
  throw new Error(`${name} is not a section; there are ${SECTIONS.map((each) => each.name).join(', ')}`)
}
