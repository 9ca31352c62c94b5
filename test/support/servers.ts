import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { RUNS } from '../../local/host/paths.ts'
import { findMysql, findValkey } from '../../local/servers/find.ts'
import { MASTER, MysqlServer } from '../../local/servers/mysql.ts'
import { ValkeyServer } from '../../local/servers/valkey.ts'

declare module 'vitest' {
  interface ProvidedContext {
    mysql: { host: string; port: number; user: string; password: string }
    valkey: { host: string; port: number }
  }
}

/**
 * One MySQL and one Valkey for all files of a test run; each file has a database and slices of its own. Tests that stop
 * or break a server start one for themselves.
 */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const folder = join(RUNS, `test-${process.pid}`)
  const say = (line: string) => console.error(line)
  const [mysqlFound, valkeyFound] = await Promise.all([findMysql(process.env, say), findValkey(process.env, say)])
  const mysql = 'program' in mysqlFound ? await MysqlServer.start(mysqlFound.program, join(folder, 'mysql')) : undefined
  const valkey =
    'program' in valkeyFound ? await ValkeyServer.start(valkeyFound.program, join(folder, 'valkey')) : undefined
  const mysqlAddress = 'address' in mysqlFound ? mysqlFound.address : { host: '127.0.0.1', port: mysql?.port ?? 0 }
  const valkeyAddress = 'address' in valkeyFound ? valkeyFound.address : { host: '127.0.0.1', port: valkey?.port ?? 0 }
  const { SHARELOCK_MYSQL_USER: user = MASTER.user, SHARELOCK_MYSQL_PASSWORD: password = MASTER.password } = process.env
  project.provide('mysql', { user, password, ...mysqlAddress })
  project.provide('valkey', valkeyAddress)
  return async () => {
    await Promise.all([mysql?.stop(), valkey?.stop()])
    // Exit code 0 means that no test failed; data of failed tests stays for a look.
    if ((process.exitCode ?? 0) === 0) await rm(folder, { recursive: true, force: true })
    else console.error(`kept for inspection: ${folder}`)
  }
}
