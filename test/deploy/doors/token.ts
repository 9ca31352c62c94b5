/** What an IAM password must be: a presigned URL without its scheme, for this host and user, and not out of date. */
export type TokenOf = { readonly host: string; readonly user: string; readonly service: 'rds-db' | 'elasticache' }

const USER_FIELD = { 'rds-db': 'DBUser', elasticache: 'User' } as const

/** `20261130T223000Z`, ms since 1970. */
const timeOf = (text: string): number =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))

/** Why a token is not taken; undefined where it is. Its signature is not looked at: that takes the secret key. */
export const tokenObstacle = (
  token: string,
  { host, user, service }: TokenOf,
  now = Date.now(),
): string | undefined => {
  const url = URL.canParse(`https://${token}`) ? new URL(`https://${token}`) : undefined
  if (url === undefined) return 'it is no presigned URL'
  const field = (name: string) => url.searchParams.get(name) ?? ''
  if (url.host !== host) return `it is for ${url.host} and not for ${host}`
  if (field('Action') !== 'connect' || field(USER_FIELD[service]) !== user) return `it does not connect ${user}`
  if (!field('X-Amz-Credential').includes(`/${service}/aws4_request`)) return `it is not signed for ${service}`
  if (!/^[0-9a-f]{64}$/.test(field('X-Amz-Signature'))) return 'it has no signature'
  const until = timeOf(field('X-Amz-Date')) + Number(field('X-Amz-Expires')) * 1_000
  return until > now ? undefined : 'it is out of date'
}
