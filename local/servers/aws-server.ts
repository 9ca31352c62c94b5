import { subscribe } from 'node:diagnostics_channel'
import { type FauxqsInitConfig, startFauxqs } from 'fauxqs'

/**
 * The child process in which fauxqs serves S3, SNS and SQS: it reads whole objects at once, which must not hold up the
 * engine. Started by aws.ts with its configuration as the only argument; reports its port and ends with its parent.
 */
export type AwsServerConfig = {
  readonly region: string
  readonly storage: string
  /** 0: a free one. */
  readonly port: number
  readonly init: FauxqsInitConfig
}

/** fauxqs takes bodies of 11 MiB; S3's PutObject takes 5 GiB. */
const BODY_BYTES_MAX = 5 * 1_024 ** 3

type Route = { bodyLimit?: number }
type Listen = (options: { port: number; host: string }) => Promise<string>
type Instance = { addHook: (name: 'onRoute', hook: (route: Route) => void) => void; listen: Listen }

// fauxqs offers neither option, but Fastify announces each instance before its routes are added.
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: Instance }
  fastify.addHook('onRoute', (route) => {
    route.bodyLimit = BODY_BYTES_MAX
  })
  const listen = fastify.listen
  // It would listen on every interface; what runs here is nobody else's business.
  fastify.listen = (options) => listen.call(fastify, { ...options, host: '127.0.0.1' })
})

process.on('disconnect', () => process.exit())
// Ctrl-C reaches the whole terminal group; the parent ends this process after the functions that still need it.
process.on('SIGINT', () => undefined)

const config = JSON.parse(process.argv[2] ?? '') as AwsServerConfig
const server = await startFauxqs({
  port: config.port,
  logger: false,
  defaultRegion: config.region,
  s3StorageDir: config.storage,
  init: config.init,
})
process.send?.({ port: server.port })
