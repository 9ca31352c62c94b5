/** What AWS's clients throw where the service answered. */
type Answer = Error & { readonly $metadata?: { readonly httpStatusCode?: number } }

/** Refusals that every event of this topic would meet now: who asks, how fast, and the topic's own key. */
const OF_TOPIC =
  /^(KMS|Throttl|TooManyRequests|RequestLimit|RequestExpired|RequestTimeout|ExpiredToken|EndpointDisabled)/i
const OF_TOPIC_STATUSES: readonly number[] = [401, 403, 404, 408, 429]

/**
 * Whether the topic refused this one event, as too long or ill-formed, and would do so for ever. Silence, a fault of the
 * service, and what is wrong with the topic or the caller concern the next event too, and pass for all of them at once.
 */
export const isEventRefused = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  const status = (error as Answer).$metadata?.httpStatusCode ?? 0
  return status >= 400 && status < 500 && !OF_TOPIC_STATUSES.includes(status) && !OF_TOPIC.test(error.name)
}
