import type { LockAddress } from '../../functions/store/lock/client.ts'

/** A Valkey of the tests' own: on loopback, without TLS and users. */
export const lockAddress = (host: string, port: number): LockAddress => ({
  LOCK_HOST: host,
  LOCK_PORT: port,
  LOCK_USER: '',
  LOCK_AUTH: 'none',
  LOCK_GROUP_ID: '',
  LOCK_TLS: 'off',
  LOCK_PREFIX: '',
  AWS_REGION: 'ap-northeast-2',
})
