import { expect, test } from 'vitest'
import { serverLacksOf } from '../../../preflight/mysql-needs.ts'
import { valkeyLacksOf } from '../../../preflight/valkey.ts'

const GOOD = {
  version: '8.4.9',
  localInfile: true,
  maxAllowedPacket: 67_108_864,
  isReadOnly: false,
  binlogFormat: 'ROW',
  comment: 'Source distribution',
  flushAtCommit: 1,
  syncBinlog: 1,
  detectsDeadlocks: true,
  rollsBackOnTimeout: false,
  initConnect: '',
  maxConnections: 1_000,
  maxUserConnections: 0,
  hasIamPlugin: true,
  isEncrypted: true,
  privilegesMissing: [],
}
const NEEDS = { connections: 200, iam: true }

test('RDS with everything lacks nothing, and a MariaDB is no MySQL', () => {
  expect(serverLacksOf(GOOD, NEEDS)).toEqual([])
  expect(serverLacksOf({ ...GOOD, version: '11.4.5-MariaDB-log' }, NEEDS).map(({ check }) => check)).toEqual(['mysql'])
  // A server without a binary log has nothing to lose in it.
  expect(serverLacksOf({ ...GOOD, syncBinlog: null }, NEEDS)).toEqual([])
})

test.each([
  [{ redis_version: '6.2.14' }, ['valkey-version']],
  [{ redis_version: '7.0.15' }, []],
  [{ redis_version: '7.2.4', valkey_version: '7.2.9' }, []],
  [{ redis_version: '7.2.4', valkey_version: '9.1.2', role: 'master', cluster_enabled: '0' }, []],
] as [Record<string, string>, string[]][])('the version %j is judged', (facts, checks) => {
  expect(valkeyLacksOf(facts).map(({ check }) => check)).toEqual(checks)
})
