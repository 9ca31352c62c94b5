import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import type { Lack } from '../functions/contract/database-needs.ts'
import { messageOf } from '../functions/contract/failures.ts'
import { tryAcquire } from '../functions/store/lock/acquire.ts'
import { type LockAddress, openLockClient } from '../functions/store/lock/client.ts'
import { extend } from '../functions/store/lock/extend.ts'
import { release } from '../functions/store/lock/release.ts'
import { accessString } from '../infra/config/lock-access.ts'
import { type Findings, lackOf, noFindings } from './lacks.ts'

/** A login that may ask INFO; the locks' own user may not. None where the server lets everybody in. */
export type Administrator = { readonly username: string; readonly password: string }

/** Of INFO, by name. */
type ValkeyFacts = Readonly<Record<string, string>>

const MEMORY_HIGH_SHARE = 0.7
const CONNECT_TIMEOUT_MS = 5_000

/** A lock's scripts say what they may do in their first line, which came with these. */
const isOld = ({ valkey_version: valkey, redis_version: redis = '0' }: ValkeyFacts): boolean => {
  const [major = 0, minor = 0] = (valkey ?? redis).split('.').map(Number)
  return valkey === undefined ? major < 7 : major < 7 || (major === 7 && minor < 2)
}

/**
 * What an answering server lacks, by its own INFO.
 *
 * @param nodes as many as the stage lists for its alarms; absent where it lists none
 */
export const valkeyLacksOf = (facts: ValkeyFacts, nodes?: number): Lack[] => {
  const { maxmemory_policy: policy = 'noeviction', maxmemory = '0', used_memory: used = '0' } = facts
  const nodesSeen = 1 + Number(facts.connected_slaves ?? 0)
  const lacks: (Lack | false)[] = [
    nodes !== undefined &&
      facts.role === 'master' &&
      nodes !== nodesSeen && {
        check: 'nodes',
        what: `The group has ${nodesSeen} node${nodesSeen === 1 ? '' : 's'}, and nodeIds of the stage lists ${nodes}: the alarms would watch others than there are.`,
        remedy: 'Set nodeIds to the MemberClusters of aws elasticache describe-replication-groups.',
      },
    isOld(facts) && {
      check: 'valkey-version',
      what: `The server is ${facts.valkey_version ?? `Redis ${facts.redis_version}`}, which does not know what a lock's scripts need.`,
      remedy: 'Take Valkey 7.2 or later.',
    },
    facts.cluster_enabled === '1' && {
      check: 'cluster-mode',
      what: 'Cluster mode is enabled: keys are spread over shards, and the client of the locks knows one server.',
      remedy: 'Take a replication group with cluster mode disabled.',
    },
    facts.role !== undefined &&
      facts.role !== 'master' && {
        check: 'primary',
        what: `The endpoint leads to a ${facts.role === 'slave' ? 'replica' : facts.role}, which takes no lock.`,
        remedy: 'Give the primary endpoint of the replication group.',
      },
    policy !== 'noeviction' && {
      check: 'eviction',
      what: `maxmemory-policy is ${policy}: when its memory is full, Valkey evicts keys, and locks with them.`,
      remedy: 'Set maxmemory-policy=noeviction in the parameter group, or take a group for the locks alone.',
    },
    Number(maxmemory) > 0 &&
      Number(used) > MEMORY_HIGH_SHARE * Number(maxmemory) && {
        check: 'memory',
        what: `${Math.round((100 * Number(used)) / Number(maxmemory))} % of its memory is taken; a full Valkey takes no lock.`,
        remedy: 'Find what fills it, or take larger nodes.',
      },
  ]
  return lacks.filter((lack) => lack !== false)
}

const factsOf = async (
  address: LockAddress,
  administrator: Administrator | undefined,
): Promise<ValkeyFacts | Error> => {
  const client = new Redis({
    host: address.LOCK_HOST,
    port: address.LOCK_PORT,
    ...(address.LOCK_TLS === 'verify' ? { tls: { minVersion: 'TLSv1.2' as const } } : {}),
    ...administrator,
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  client.on('error', () => undefined)
  try {
    const text = await client.info()
    return Object.fromEntries([...text.matchAll(/^(\w+):(.*?)\r?$/gm)].map((match) => [match[1], match[2]]))
  } catch (error) {
    return error as Error
  } finally {
    client.disconnect()
  }
}

/** Takes, extends and releases a lock of nobody's slice, with the functions' own client and login. */
const tryLock = async (address: LockAddress): Promise<unknown> => {
  const slice = { distributorId: 0, distributor: 'preflight', month: '2099-12' }
  const client = await openLockClient(address)
  const token = `preflight/${randomUUID()}`
  try {
    await tryAcquire(client, slice, token)
    await extend(client, slice, token)
    await release(client, slice, token)
    return undefined
  } catch (error) {
    return error
  } finally {
    client.disconnect()
  }
}

/** Looks at a Valkey server as the functions will meet it. */
export const lookAtValkey = async (
  stage: string,
  address: LockAddress,
  { administrator, nodes }: { readonly administrator?: Administrator | undefined; readonly nodes?: number } = {},
): Promise<Findings> => {
  const findings = noFindings()
  const where = `Valkey at ${address.LOCK_HOST}:${address.LOCK_PORT}`
  const facts = await factsOf(address, administrator)
  if (facts instanceof Error)
    findings.unknown.push(
      `${where}: eviction policy, cluster mode and version, for INFO failed (${messageOf(facts)}). Set SHARELOCK_VALKEY_USER and SHARELOCK_VALKEY_PASSWORD to a user that may ask it.`,
    )
  else findings.lacks.push(...valkeyLacksOf(facts, nodes))
  // What INFO said already, a lock would only say again in its own words.
  const refused = findings.lacks.length === 0 ? await tryLock(address) : undefined
  if (refused !== undefined) findings.lacks.push(lackOf('lock', refused, accessRemedy(stage, refused)))
  if (findings.lacks.length === 0) findings.fine.push(`${where}: a lock was taken, extended and released`)
  return findings
}

const accessRemedy = (stage: string, error: unknown): string =>
  (error as Error).name === 'LockMisconfigured' ? `The access string of this stage: "${accessString(stage)}".` : ''
