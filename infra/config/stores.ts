import { z } from 'zod'
import { HostName, id, Port } from './values.ts'

const ResourceId = z.string().regex(/^db-[A-Z0-9]+$/, 'a resource id such as db-ABCDEFGHIJKL0123456789')
const SecretArn = z.string().regex(/^arn:aws:secretsmanager:[\w-]+:\d{12}:secret:.+$/, 'the whole ARN of a secret')

/** MySQL: an instance of this stage's own, or one that others use as well. */
export const DatabaseSettings = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('new'),
    instanceType: z.string().regex(/^[a-z]\d\w*\.\w+$/, 'an instance type without "db.", such as m7g.large'),
    multiAz: z.boolean(),
    storageGib: z.int().min(100).max(65_536),
    storageMaxGib: z.int().min(100).max(65_536),
    backupDays: z.int().min(1).max(35),
    /** Set in the parameter group: the connection budget is computed against it. */
    maxConnections: z.int().min(50).max(16_000),
    /**
     * After a restore, which is another instance under the same identifier: what the template's own would name wrongly.
     * See docs/restore.md.
     */
    restored: z.strictObject({ resourceId: ResourceId, masterSecretArn: SecretArn }).optional(),
  }),
  z.strictObject({
    kind: z.literal('existing'),
    identifier: z.string().min(1),
    endpoint: HostName.refine(
      (host) => !host.includes('.proxy-'),
      "the instance's own endpoint: behind an RDS Proxy a statement that hangs can not be ended",
    ).refine((host) => !/\.cluster-(ro-|custom-)?/.test(host), "the instance's own endpoint, and not a cluster's"),
    port: Port.default(3_306),
    /** `db-...`: IAM grants name it, and the identifier does not do. */
    resourceId: ResourceId,
    securityGroupId: id('sg'),
    /** With user name and password in JSON. Its KMS key must let this account's roles decrypt. */
    masterSecretArn: SecretArn,
    maxConnections: z.int().min(50).max(16_000),
    /** `sharelock_<stage>` where absent, so that two stages never meet on one server. */
    schema: z
      .string()
      .regex(/^[a-z]\w{0,63}$/, 'a schema name of a-z, 0-9 and _')
      .optional(),
    /** The functions' user; MySQL takes 32 characters. `sharelock_<stage>` where absent. */
    user: z
      .string()
      .regex(/^[a-z]\w{0,31}$/, 'a user name of a-z, 0-9 and _, 32 at most')
      .optional(),
    /** The readers' user. `sharelock_<stage>_r` where absent. */
    reader: z
      .string()
      .regex(/^[a-z]\w{0,31}$/, 'a user name of a-z, 0-9 and _, 32 at most')
      .optional(),
  }),
])
export type DatabaseSettings = z.output<typeof DatabaseSettings>

/** Valkey: a replication group of this stage's own, or one that others use as well. */
export const LockSettings = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('new'),
    nodeType: z.string().regex(/^cache\.[a-z]\d\w*\.\w+$/, 'a node type such as cache.t4g.micro'),
    /** One node has no failover: for stages that may wait. */
    nodes: z.int().min(1).max(3),
  }),
  z.strictObject({
    kind: z.literal('existing'),
    groupId: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'the id of a replication group'),
    /** The alarms watch each: `aws elasticache describe-replication-groups` lists them as MemberClusters. */
    nodeIds: z.array(z.string().regex(/^[a-z][a-z0-9-]*$/, 'the id of a node such as locks-001')).min(1),
    endpoint: HostName.refine(
      (host) => !/^clustercfg\.|\.serverless\./.test(host),
      'the primary endpoint of a replication group with cluster mode disabled: a serverless cache and a cluster take other logins and spread keys',
    ).refine((host) => !/^(replica|ro)\.|-ro\./.test(host), 'the primary endpoint: a replica takes no lock'),
    port: Port.default(6_379),
    /** Id and name of an IAM user of the group, which are the same. */
    user: z.string().min(1),
    securityGroupId: id('sg'),
  }),
])
export type LockSettings = z.output<typeof LockSettings>

/**
 * What this stage's things are called in the database. A server of its own has the same names in every stage, so that
 * readers' statements are the same everywhere; on a server that is shared, the stage is part of them.
 */
export const databaseNames = (
  stage: string,
  database: DatabaseSettings,
): { readonly schema: string; readonly user: string; readonly reader: string } => {
  if (database.kind === 'new') return { schema: 'sharelock', user: 'sharelock_app', reader: 'sharelock_reader' }
  // A stage's name has no underscore, so two stages never become one name.
  const name = `sharelock_${stage.replaceAll('-', '_')}`
  const { schema = name, user = name, reader = `${name}_r` } = database
  return { schema, user, reader }
}

/** What this stage's locks begin with. It ends with a character that no stage has in its name. */
export const lockPrefix = (stage: string): string => `${stage}:`
