import { defaultProvider } from '@aws-sdk/credential-provider-node'
import { Sha256 } from '@smithy/core/checksum'
import { buildQueryString, HttpRequest } from '@smithy/core/protocols'
import { SignatureV4 } from '@smithy/signature-v4'

/** ElastiCache accepts a password for 15 minutes. */
const PASSWORD_LIFE_S = 900

const credentials = defaultProvider()

/**
 * A password for Valkey: a presigned GET of `<replication group id>/?Action=connect&User=<user>` for the service
 * `elasticache`, without its scheme. It is signed locally, for the group's id and not for its endpoint.
 * Source: Amazon ElastiCache User Guide, "Authenticating with IAM".
 */
export const elasticachePassword = async (region: string, groupId: string, user: string): Promise<string> => {
  const signer = new SignatureV4({ service: 'elasticache', region, credentials, sha256: Sha256 })
  const request = new HttpRequest({
    method: 'GET',
    protocol: 'https:',
    hostname: groupId,
    path: '/',
    query: { Action: 'connect', User: user },
    headers: { host: groupId },
  })
  const signed = await signer.presign(request, { expiresIn: PASSWORD_LIFE_S })
  return `${signed.hostname}${signed.path}?${buildQueryString(signed.query ?? {})}`
}
