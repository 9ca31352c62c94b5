import { join } from 'node:path'
import { localStackFile } from '../functions/contract/local-stack-file.ts'
import { LOCAL } from './host/paths.ts'
import { writeEnvironmentFile } from './kept/environment-file.ts'
import { openKept } from './kept/kept.ts'
import { readOptions } from './options.ts'
import { type Stack, startStack } from './stack.ts'

/**
 * `npm run local`: brings the local stack up as it was left, tells where it is, and keeps it up until Ctrl-C. Nothing is
 * left running afterwards; its data and its ports stay for the next start.
 */
const say = (line: string): void => console.log(line)

const { fresh } = readOptions(process.argv)

// Node's default for these signals is to die at once, and the servers would be killed instead of stopped.
const interrupted = Promise.withResolvers<void>()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.resolve())

const linesOf = ({ database, lock, aws, url, lambdaUrl, machineArn, logsFolder }: Stack, file: string): string => `
  MySQL            ${database.host}:${database.port} database ${database.name}, user ${database.master.user}, password ${database.master.password}
  Valkey           ${lock.host}:${lock.port}
  S3, SNS, SQS     ${aws.endpoint}
  Step Functions   ${url}
  Lambda           ${lambdaUrl}
  State machine    ${machineArn}
  Logs             ${logsFolder}

In another terminal, \`sharelock\` finds it by itself:

  sharelock demo       fills eight distributors and a year
  sharelock console    shows them in a browser

The AWS CLI and other programs find it after this:

  . ${file}
  aws s3 cp file.csv s3://${aws.bucket}/incoming/file.csv
  aws stepfunctions start-execution --state-machine-arn "$STATE_MACHINE_ARN" \\
    --input '{"distributor": "ARIA", "month": "2026-10", "source": {"key": "incoming/file.csv"}, "requestedBy": "me"}'

Ctrl-C stops everything and keeps the data.`

const main = async (): Promise<void> => {
  const begun = Date.now()
  const kept = await openKept(join(LOCAL, 'kept'), fresh, say)
  const stack = await startStack({ say, kept })
  const file = localStackFile(process.env)
  const removeFile = await writeEnvironmentFile(file, stack.environment)
  const data = kept.isOld ? 'with the data of the last time' : 'empty'
  say(`The local stack is up after ${((Date.now() - begun) / 1_000).toFixed(1)} s, ${data}.\n${linesOf(stack, file)}`)
  await interrupted.promise
  say('Stopping ...')
  await removeFile()
  await stack.stop()
  say('Stopped. The next `npm run local` goes on from here; `npm run local -- --fresh` begins anew.')
}

/** A MySQL that is stopped cleanly may take its 30 s; its data survive being killed as well. */
const FORCED_AFTER_MS = 40_000
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
