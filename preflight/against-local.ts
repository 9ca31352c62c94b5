import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { connectionBudget } from '../infra/config/connections.ts'
import { stageConfig } from '../infra/config/stages.ts'
import { RUNS } from '../local/host/paths.ts'
import type { Environment } from '../local/servers/find.ts'
import { openDatabase, openLockServer } from '../local/servers/stores.ts'
import { type Findings, joined } from './lacks.ts'
import { lookAtMysql } from './mysql.ts'
import { lookAtValkey } from './valkey.ts'

/** Starts the local stack's servers (or takes those whose addresses are given) and looks at them as at anybody's. */
export const lookAtLocal = async (env: Environment, say: (line: string) => void): Promise<Findings> => {
  const id = `preflight-${randomUUID().slice(0, 8)}`
  const folder = join(RUNS, id)
  const database = await openDatabase(env, join(folder, 'mysql'), id, { bufferPool: '64M', redoLog: '64M' }, say)
  try {
    const lock = await openLockServer(env, join(folder, 'valkey'), {}, say)
    try {
      const connections = connectionBudget(stageConfig('local'))
      return joined([
        // The functions of the local stack log in by password: its servers have no IAM.
        await lookAtMysql(database.masterAddress, { connections, iam: false }),
        await lookAtValkey('local', addressOf(lock)),
      ])
    } finally {
      await lock.stop()
    }
  } finally {
    await database.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const addressOf = ({ host, port }: { readonly host: string; readonly port: number }) =>
  ({
    LOCK_HOST: host,
    LOCK_PORT: port,
    LOCK_USER: '',
    LOCK_AUTH: 'none',
    LOCK_GROUP_ID: '',
    LOCK_TLS: 'off',
    LOCK_PREFIX: '',
    AWS_REGION: 'ap-northeast-2',
  }) as const
