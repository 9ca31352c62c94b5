import type { DatabaseFacts, Lack } from '../functions/contract/database-needs.ts'

/** What is known of a server besides, and only asked before a deployment: a run does not look at it. */
export type ServerFacts = DatabaseFacts & {
  readonly comment: string
  /** 1: each commit is on the disk before it is answered. */
  readonly flushAtCommit: number
  /** 1: so is its place in the binary log. Null where the server keeps none. */
  readonly syncBinlog: number | null
  readonly detectsDeadlocks: boolean
  readonly rollsBackOnTimeout: boolean
  readonly initConnect: string
  readonly maxConnections: number
  /** 0: as many as there are. */
  readonly maxUserConnections: number
  readonly hasIamPlugin: boolean
  readonly isEncrypted: boolean
  /** Of what the migrator has to do and grant, what this user may not. */
  readonly privilegesMissing: readonly string[]
}

/** What this stage asks of the server. */
export type ServerNeeds = {
  readonly connections: number
  /** The functions log in with IAM passwords, over TLS. */
  readonly iam: boolean
}

const parameter = (setting: string): string => `Set ${setting} in the parameter group of the database.`

/** By server: what is lost or waits there, no session can set for itself. */
const serverWide = (facts: ServerFacts): (Lack | false)[] => [
  facts.flushAtCommit !== 1 && {
    check: 'durable-commits',
    what: `innodb_flush_log_at_trx_commit is ${facts.flushAtCommit}: a crash may lose what was committed, and a fence could be issued twice.`,
    remedy: parameter('innodb_flush_log_at_trx_commit=1'),
  },
  facts.syncBinlog !== null &&
    facts.syncBinlog !== 1 && {
      check: 'durable-binlog',
      what: `sync_binlog is ${facts.syncBinlog}: after a crash replicas and restores may lack commits that the server has.`,
      remedy: parameter('sync_binlog=1'),
    },
  !facts.detectsDeadlocks && {
    check: 'deadlock-detection',
    what: 'innodb_deadlock_detect is off: two sessions that block each other wait until both time out.',
    remedy: parameter('innodb_deadlock_detect=1'),
  },
  facts.rollsBackOnTimeout && {
    check: 'rollback-on-timeout',
    what: 'innodb_rollback_on_timeout is on: a wait that ends takes its whole transaction back, and what waits patiently starts anew.',
    remedy: `${parameter('innodb_rollback_on_timeout=0')} It takes a restart.`,
  },
  facts.initConnect !== '' && {
    check: 'init-connect',
    what: `init_connect runs ${JSON.stringify(facts.initConnect)} in each of our sessions, before their own settings.`,
    remedy: `Empty init_connect, or make sure that it changes nothing for the user of this stage.`,
  },
]

const login = (facts: ServerFacts, { connections, iam }: ServerNeeds): (Lack | false)[] => [
  facts.maxConnections < connections && {
    check: 'max-connections',
    what: `max_connections is ${facts.maxConnections}, and this stage alone may hold ${connections}.`,
    remedy: `${parameter(`max_connections=${Math.ceil(connections / 0.7)}`)} Or turn jobsMax or lanes of the stage down.`,
  },
  facts.maxUserConnections > 0 &&
    facts.maxUserConnections < connections && {
      check: 'max-user-connections',
      what: `max_user_connections is ${facts.maxUserConnections}, and this stage's user may need ${connections}.`,
      remedy: parameter('max_user_connections=0'),
    },
  iam &&
    !facts.hasIamPlugin && {
      check: 'iam',
      what: 'The server has no AWSAuthenticationPlugin, so the functions can not log in with IAM passwords.',
      remedy:
        'Switch IAM database authentication on: aws rds modify-db-instance --enable-iam-database-authentication --apply-immediately.',
    },
  iam &&
    !facts.isEncrypted && {
      check: 'tls',
      what: 'The connection is not encrypted, and an IAM password goes over TLS only.',
      remedy: "Use the instance's own endpoint, whose certificate is of RDS.",
    },
]

/** Beyond what each run asks for itself (lacksOf): everything else that a first deployment meets. */
export const serverLacksOf = (facts: ServerFacts, needs: ServerNeeds): Lack[] => {
  const lacks: (Lack | false)[] = [
    // Its version is one of its own, with which ours can not be compared.
    /mariadb/i.test(`${facts.version} ${facts.comment}`) && {
      check: 'mysql',
      what: `The server is ${facts.version}, and not MySQL.`,
      remedy: 'Take MySQL 8.4 or later.',
    },
    facts.isReadOnly && {
      check: 'writable',
      what: 'The server is read-only: a replica, or an instance that is being restored.',
      remedy: 'Give the endpoint of the primary.',
    },
    ...serverWide(facts),
    ...login(facts, needs),
    facts.privilegesMissing.length > 0 && {
      check: 'master-user',
      what: `The user of masterSecretArn may not ${facts.privilegesMissing.join(', ')} with grant option, which the migrator needs.`,
      remedy: 'Give the secret of the master user, or grant these to it.',
    },
  ]
  return lacks.filter((lack) => lack !== false)
}
