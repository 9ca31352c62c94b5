import { startStack } from './stack.ts'

/**
 * `npm run local`: brings the local stack up, prints its addresses, and keeps it up until Ctrl-C. Nothing is left
 * running or lying about afterwards. The Step Functions endpoint's port can be given as PORT.
 */
const say = (line: string): void => console.log(line)

// Node's default for these signals is to die at once, and the servers would be killed instead of stopped.
const interrupted = Promise.withResolvers<void>()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.resolve())

const PORT = process.env.PORT === undefined ? undefined : Number(process.env.PORT)

const main = async (): Promise<void> => {
  const begun = Date.now()
  const stack = await startStack({ say, port: PORT })
  const { database, lock, aws } = stack
  say(`The local stack is up after ${((Date.now() - begun) / 1_000).toFixed(1)} s.

  MySQL            ${database.host}:${database.port} database ${database.name}, user ${database.master.user}, password ${database.master.password}
  Valkey           ${lock.host}:${lock.port}
  S3, SNS, SQS     ${aws.endpoint}
  Step Functions   ${stack.url}
  Lambda           ${stack.lambdaUrl}
  State machine    ${stack.machineArn}
  Logs             ${stack.logsFolder}

For another shell:
`)
  for (const [name, value] of Object.entries(stack.environment)) say(`  export ${name}=${value}`)
  say('\nThen for example:\n')
  say(`  aws s3 cp file.csv s3://${aws.bucket}/incoming/file.csv`)
  say('  aws stepfunctions start-execution --state-machine-arn "$STATE_MACHINE_ARN" \\')
  say(
    `    --input '{"distributor": "ARIA", "month": "2026-10", "source": {"key": "incoming/file.csv"}, "requestedBy": "me"}'`,
  )
  say('\nCtrl-C stops everything.')
  await interrupted.promise
  say('Stopping ...')
  await stack.stop()
}

const FORCED_AFTER_MS = 20_000
void interrupted.promise.then(() => setTimeout(() => process.exit(1), FORCED_AFTER_MS).unref())

try {
  // Ctrl-C while starting: it goes on and then stops in order, or is cut off after a while; whatever it has started
  // dies with this process (servers/watchdog-client.ts).
  await main()
  process.exit(0)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
